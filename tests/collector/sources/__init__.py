"""The clients of devices and brokers, without a device."""
