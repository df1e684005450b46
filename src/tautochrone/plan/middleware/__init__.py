"""Middleware: grids over transports and clients, and servers on other machines than their clients."""
