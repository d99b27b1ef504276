"""Lets a process of ours start another: `python -m jackpot_service.cli`."""

from jackpot_service.cli.program import main

main()
