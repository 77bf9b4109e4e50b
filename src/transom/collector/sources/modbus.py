"""Poll Modbus TCP devices: one connection per host and port, shared by its units."""

from __future__ import annotations

import logging
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from transom.catalog.extras import require_library
from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import Device, Modbus, Register, RegisterSpace, RegisterType

_STRUCT_FORMATS = {
    RegisterType.INT16: ">h",
    RegisterType.UINT16: ">H",
    RegisterType.INT32: ">i",
    RegisterType.UINT32: ">I",
    RegisterType.INT64: ">q",
    RegisterType.FLOAT32: ">f",
    RegisterType.FLOAT64: ">d",
}


def decode_registers(register: Register, values: Sequence[int]) -> object:
    """Decode the 16-bit words of a Modbus register to a number or boolean, with its scale and offset."""
    if register.number is RegisterType.BIT:
        return bool(values[0])
    number = struct.unpack(_STRUCT_FORMATS[register.number], struct.pack(f">{len(values)}H", *values))[0]
    if register.scale == 1.0 and register.offset == 0.0:
        return number
    return number * register.scale + register.offset


class ModbusConnection:
    """The units behind one address."""

    def __init__(self, devices: Sequence[Device], source: Modbus) -> None:
        """Create the connection to the Modbus devices at one address; it connects at the first read."""
        self.devices = devices
        self.source = source
        self._client: Any = None

    async def read(self, results: dict[Device, Mapping[str, object] | Exception]) -> None:
        """Poll the devices one by one into `results`; an error of one device does not affect the others."""
        client = await self._connect()
        for device in self.devices:
            try:
                results[device] = {
                    r.attribute: await self._read_register(client, device, r) for r in self.source.registers
                }
            except ValueError as error:
                results[device] = error

    async def _connect(self) -> Any:
        """Return the Modbus client, connected again if necessary; raise ConnectionError if that fails."""
        pymodbus = require_library("pymodbus.client", "modbus")
        if self._client is None:
            host, _, port = resolve_references(self.devices[0].address).rpartition(":")
            seconds = self.source.deadline / 1e6
            self._client = pymodbus.AsyncModbusTcpClient(
                host.strip("[]"), port=int(port), timeout=seconds, retries=0, reconnect_delay=0
            )
        if not self._client.connected and not await self._client.connect():
            raise ConnectionError("cannot connect")
        return self._client

    async def _read_register(self, client: Any, device: Device, register: Register) -> object:
        """Read the value of one register of a device; raise ValueError if the device reports an error."""
        read_function = {
            RegisterSpace.HOLDING: client.read_holding_registers,
            RegisterSpace.INPUT: client.read_input_registers,
            RegisterSpace.COIL: client.read_coils,
            RegisterSpace.DISCRETE: client.read_discrete_inputs,
        }[register.space]
        response = await read_function(register.address, count=register.number.register_count, device_id=device.unit)
        if response.isError():
            raise ValueError(f"register {register.address}: {response}")
        is_bit = register.space in (RegisterSpace.COIL, RegisterSpace.DISCRETE)
        return decode_registers(register, [int(response.bits[0])] if is_bit else response.registers)

    def reset(self) -> None:
        """Close the connection, so that no late response is taken for the response to the next request."""
        if self._client is not None:
            self._client.close()
            self._client = None

    async def close(self) -> None:
        """Close the connection to the Modbus devices."""
        self.reset()


def modbus_connections(source: Modbus) -> list[ModbusConnection]:
    """Create one Modbus connection per address, shared by the devices (unit numbers) at that address."""
    require_library("pymodbus.client", "modbus")
    logging.getLogger("pymodbus").setLevel(logging.CRITICAL)  # the poller reports errors
    by_address: dict[str, list[Device]] = {}
    for device in source.devices:
        by_address.setdefault(device.address, []).append(device)
    return [ModbusConnection(devices, source) for devices in by_address.values()]
