"""``python -m torpor`` is the command line."""

from torpor.cli import main

if __name__ == "__main__":
    main()
