"""Node ids of OPC UA: the namespace is found by its URI in each session."""

from __future__ import annotations

import pytest

from transom.collector.sources.opcua_namespaces import Namespaces

FIRST = ["http://opcfoundation.org/UA/", "urn:server", "urn:plant", "urn:a;b%c"]


def test_uri_is_looked_up_in_each_session() -> None:
    namespaces = Namespaces()
    assert namespaces.node_id("nsu=urn:plant;s=level", FIRST) == "ns=2;s=level"
    assert namespaces.node_id("nsu=urn:plant;s=level", [*FIRST[:2], "urn:new", "urn:plant"]) == "ns=3;s=level"
    assert namespaces.node_id("nsu=urn:a%3Bb%25c;i=7", FIRST) == "ns=3;i=7"


def test_index_means_the_namespace_of_the_first_session() -> None:
    namespaces = Namespaces()
    assert namespaces.node_id("ns=2;s=a;b", FIRST) == "ns=2;s=a;b"
    assert namespaces.node_id("ns=2;s=a;b", [*FIRST[:2], "urn:new", "urn:plant"]) == "ns=3;s=a;b"
    with pytest.raises(ValueError, match="the server has no namespace urn:plant"):
        namespaces.node_id("ns=2;s=a;b", [*FIRST[:2], "urn:new"])


@pytest.mark.parametrize("text", ["i=2258", "s=level", "ns=x;s=level", "ns=9;s=level"])
def test_other_ids_are_left_to_the_server(text: str) -> None:
    assert Namespaces().node_id(text, FIRST) == text
