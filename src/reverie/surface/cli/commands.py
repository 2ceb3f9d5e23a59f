"""Every command of `reverie`: its group, what it does in one line, and the module that holds it.

Owns the list that `reverie --help` prints; promises that printing it imports no command; never knows what a command
does.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its name, its group in the help, its line there, and its module beside this one."""

    name: str
    group: str
    summary: str
    module: str


_TABLE = """
Write
  capture      taking     store one turn of a conversation, or many from standard input
  end          taking     close a session
  pause        taking     keep a session, or everything, off the record
  resume       taking     take `pause` back
  remember     write      store a text as an entry
  note         write      add to the agent's own note of the day
  correct      write      put a text in the place of an entry: it changed, or was a mistake
  feedback     judging    say what an entry was worth
  judge        judging    say what an outside judge thinks it matters
  used         judging    say that entries were of use
  pin          write      keep an entry in MEMORY.md and every context
  due          write      list what was promised and is still open
  done         write      say that a promise is kept, cancelled or put off
  take-back    judging    undo one event that happened to an entry
Read
  recall       read       find what is known about something
  context      read       build what a host puts into its prompt
  list         read       list entries
  get          read       show one entry
  why          read       show where an entry comes from, down to the turn
Let go
  hide         letting    take entries out of sight, reversibly
  forget       letting    forget entries and the words they came from
  erase        letting    remove the text of entries from every file, for good
  exclude      letting    never store a topic again
One stage each
  extract      stages     read unread turns and notes into the journal
  drain        stages     store what is queued in the daily logs
  compact      stages     move the oldest turns of long sessions into the history
  digest       stages     summarise sessions; write today, week and long-term anew
  dream        stages     fold closed days into the notebook
  publish      stages     compile MEMORY.md within its budget
  lint         stages     look the notebook over
  consolidate  stages     run everything that is due, in order, the drain first
A model of your own
  dream-start     lending    hand out entries of past days to be dreamt
  dream-step      lending    use one tool in such a run
  dream-finish    lending    have it judged and installed
  extract-start   lending    hand out turns to be read
  extract-submit  lending    hand in what was found in them
Serve
  mcp          stdio      serve the memory to an MCP client
  install      hosts      put hooks into a coding agent's settings
  uninstall    hosts      take them out again
  hook         hosts      do what such a hook asks for
  serve        serving    serve many memories over HTTP and MCP, and run what is due in them
  token        tokens     say who may ask a server for what
Look back
  log          looking    list the latest runs
  diff         looking    show what a run changed
  undo         looking    take one run's changes back
  restore      looking    put the notebook back to how it stood
  review       looking    give your word on what waits for it
Care
  init         caring     make a folder a workspace
  trust        caring     say that a workspace that came from elsewhere is yours
  status       caring     show where everything stands, and what needs attention
  doctor       doctoring  find what is wrong with this installation
  check        caring     verify every file
  members      caring     list who belongs to a shared workspace; add or remove one
  reindex      caring     build the derived files again
  export       caring     write everything to an empty folder
  import       importing  take in conversations, another memory, a vault or an export
  completion   completing let a shell complete commands and options
  demo         demo       run the whole life of a turn on sample conversations
"""


def _read(table: str) -> tuple[Command, ...]:
    commands: list[Command] = []
    group = ""
    for row in table.strip().split("\n"):
        if row.startswith(" "):
            name, module, summary = row.split(None, 2)
            commands.append(Command(name, group, summary, module))
        else:
            group = row
    return tuple(commands)


COMMANDS: tuple[Command, ...] = _read(_TABLE)
