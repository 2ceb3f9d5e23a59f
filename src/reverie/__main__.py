"""`python -m reverie`: the same as the command `reverie`."""

from reverie.surface.cli.entry import main

if __name__ == "__main__":
    main()
