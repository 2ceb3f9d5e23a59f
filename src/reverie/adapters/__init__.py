"""One file per framework: each lets an agent built with it use a Memory in that framework's own words.

Owns translating between a framework and `Memory`; promises that importing an adapter loads no framework but its own,
and that one which is missing is named with how to install it; never keeps a memory of its own.
"""
