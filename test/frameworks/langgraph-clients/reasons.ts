/** Why servable differs from LangGraph's own server, or from what a client would want. By check and fact, or by check alone. */
export const REASONS: Readonly<Record<string, string>> = {
  '7 an unknown thread | run': "LangGraph's server takes an unknown thread for a busy one",
  '14 several modes | location': 'With `location`, a client reads on by itself after its connection is cut',
  '17 a run that fails | tells no secret': 'What an agent throws is for the log, not for clients',
  '19 no strategy while busy | status': 'Runs of a session wait for each other, as on the hosted server',
  '22 rollback': 'The turn and its run are deleted, as LangGraph documents it',
  '23 cancel | nothing is next': 'A cancelled turn is over: nothing would go on with it',
  '23 cancel with rollback': 'The turn is deleted, as LangGraph documents it',
  '25 joins a finished run | without a header': 'Every run can be read from its beginning',
  '27 a connection that is cut': 'With `location`, a client reads on by itself',
  '30 nothing waits | status': 'An answer to nothing is refused, and starts no run',
  '31 history | before a config': 'This is the form that the types of the SDK have',
  '32 a state at a checkpoint | unknown': "LangGraph's server gives an empty state",
  '33 an older checkpoint | unknown': "LangGraph's server runs from an empty state",
  '33 an older checkpoint | goes on':
    "LangGraph's server starts later runs at the checkpoint of an earlier one",
  '33 an older checkpoint | and on':
    "LangGraph's server starts later runs at the checkpoint of an earlier one",
  '33 the newest checkpoint | and goes on':
    "LangGraph's server starts later runs at the checkpoint of an earlier one",
  '34 a changed answer after a call of a tool': 'A turn that no run made has no calls of tools',
  '34 a changed state | same ids': 'A changed answer is a turn of its own',
  '34 a removed message': 'A run from an earlier checkpoint does it, and keeps what was said',
  '35 a copy | unknown': "LangGraph's server answers as if the new thread existed",
  '38 useStream edits and has branches | goes on':
    "LangGraph's server starts later runs at the checkpoint of an earlier one",
  '38 useStream edits and has branches | and on':
    "LangGraph's server starts later runs at the checkpoint of an earlier one",
  '38 useStream stops | waits for nothing': 'A cancelled turn is over: nothing would go on with it',
  '38 useStream stops, and could join | waits for nothing':
    'A cancelled turn is over: nothing would go on with it',
  '41 a store of items': 'Agents keep their own state',
  '41 assistants of a client': 'Agents are in code',
  '41 breakpoints': 'An agent has no nodes. A tool with `needsApproval` stops before it runs',
  '41 options of a run | after seconds': 'Schedules run agents later',
  '41 options of a run | goto': 'An agent has no nodes',
  '41 options of a run | webhook': 'Webhooks are set up by the service, not by a request',
  '40 threads of another user': "LangGraph's server has no users unless its graphs bring them",
}

/** The same for LangGraph's graphs on servable. */
export const REASONS_OF_GRAPHS: Readonly<Record<string, string>> = {
  '41 a store of items': 'Agents keep their own state',
  '41 assistants of a client': 'Agents are in code',
  '41 breakpoints': 'A node that calls `interrupt()` waits',
  '41 options of a run | after seconds': 'Schedules run agents later',
  '41 options of a run | goto': 'Its nodes are no interface of a graph',
  '41 options of a run | webhook': 'Webhooks are set up by the service, not by a request',
}
