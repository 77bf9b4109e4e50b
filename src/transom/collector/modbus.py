"""Modbus TCP: one connection per host and port, the registers of each unit behind it."""

from __future__ import annotations

import logging
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from transom.catalog.extras import needed
from transom.catalog.references import resolved
from transom.catalog.servers import Device, Modbus, Number, Register, Space

_FORMS = {
    Number.INT16: ">h",
    Number.UINT16: ">H",
    Number.INT32: ">i",
    Number.UINT32: ">I",
    Number.INT64: ">q",
    Number.FLOAT32: ">f",
    Number.FLOAT64: ">d",
}


def value_of(register: Register, words: Sequence[int]) -> object:
    """The value that lies in some registers; whole numbers stay whole unless they are scaled."""
    if register.number is Number.BIT:
        return bool(words[0])
    number = struct.unpack(_FORMS[register.number], struct.pack(f">{len(words)}H", *words))[0]
    if register.scale == 1.0 and register.offset == 0.0:
        return number
    return number * register.scale + register.offset


class ModbusStation:
    """The units behind one address."""

    def __init__(self, devices: Sequence[Device], source: Modbus) -> None:
        self.devices = devices
        self.source = source
        self._client: Any = None

    async def read(self, found: dict[Device, Mapping[str, object] | Exception]) -> None:
        """Read unit after unit; what one of them refuses does not keep the others from answering."""
        client = await self._connected()
        for device in self.devices:
            try:
                found[device] = {r.attribute: await self._value(client, device, r) for r in self.source.registers}
            except ValueError as error:
                found[device] = error

    async def _connected(self) -> Any:
        pymodbus = needed("pymodbus.client", "modbus")
        if self._client is None:
            host, _, port = resolved(self.devices[0].address).rpartition(":")
            seconds = self.source.deadline / 1e6
            self._client = pymodbus.AsyncModbusTcpClient(
                host.strip("[]"), port=int(port), timeout=seconds, retries=0, reconnect_delay=0
            )
        if not self._client.connected and not await self._client.connect():
            raise ConnectionError("cannot connect")
        return self._client

    async def _value(self, client: Any, device: Device, register: Register) -> object:
        ask = {
            Space.HOLDING: client.read_holding_registers,
            Space.INPUT: client.read_input_registers,
            Space.COIL: client.read_coils,
            Space.DISCRETE: client.read_discrete_inputs,
        }[register.space]
        answer = await ask(register.address, count=register.number.words, device_id=device.unit)
        if answer.isError():
            raise ValueError(f"register {register.address}: {answer}")
        bits = register.space in (Space.COIL, Space.DISCRETE)
        return value_of(register, [int(answer.bits[0])] if bits else answer.registers)

    def reset(self) -> None:
        """Connect anew next time: an answer that comes too late must not be taken for the next one."""
        if self._client is not None:
            self._client.close()
            self._client = None

    async def close(self) -> None:
        """Hang up."""
        self.reset()


def stations(source: Modbus) -> list[ModbusStation]:
    """One station per address."""
    needed("pymodbus.client", "modbus")
    logging.getLogger("pymodbus").setLevel(logging.CRITICAL)  # what goes wrong is told once, by the poller
    by_address: dict[str, list[Device]] = {}
    for device in source.devices:
        by_address.setdefault(device.address, []).append(device)
    return [ModbusStation(devices, source) for devices in by_address.values()]
