"""The collector against real devices, brokers and databases."""
