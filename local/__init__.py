"""The local stack: everything `make run` starts on this computer."""
