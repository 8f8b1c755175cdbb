"""Every class has a colour of its own."""

from goct.export.colours import class_colours


def test_all_differ() -> None:
    for n_classes, positive in ((1, None), (2, 1), (8, 0), (10, None), (100, 7)):
        colours = class_colours(n_classes, positive)
        assert len(colours) == n_classes
        assert len({colour.strong for colour in colours}) == n_classes
        assert all(len(colour.strong) == len(colour.light) == 7 for colour in colours)
