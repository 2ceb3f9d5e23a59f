"""The embedders, each made when it is first asked for."""
