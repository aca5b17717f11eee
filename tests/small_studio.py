"""The studio's command with little to do besides its pages: nothing is compiled ahead, exports are compared at few states.

`python -m tests.small_studio studio`: worker processes begin with this file as the server does, and are as small.
"""

if __name__ == "__main__":
    from eigenwell.cli import main

    main()
else:
    from tests.untrained import compared_little

    from eigenwell.studio import work

    def warm_drawing(what, part, tell):
        """Labels are waited for; who learns here can wait for the one program that it needs."""
        return work.warm(what, part, tell) if what == "drawing" else None

    compared_little(setattr)
    work.JOBS["warm"] = warm_drawing
