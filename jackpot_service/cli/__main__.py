"""Lets a process of ours start another: `python -m jackpot_service.cli`."""

from jackpot_service.cli.main import main

main()
