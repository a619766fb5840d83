// Commands of the hub: the page that a person keeps open, and the way to it.
import { HUB_PORT } from '../../limits.ts'
import { type Command, spec } from '../command.ts'

export const up = spec({
  names: ['heimdall up'],
  summary: 'The dashboard: who waits for you, and what each agent is doing',
  about:
    'One process that listens on this machine alone, shows the projects of the folders that it is given (default: this ' +
    'one) and passes on what you do on the page. Stopping it stops nothing else. Where a hub runs already, the folder ' +
    'is shown by that one. The link that it prints is good for one visit and five minutes, and is printed to a person ' +
    'only; heimdall open prints another.',
  args: [{ name: 'folder', help: 'projects to show; default the one that you are in', optional: true, variadic: true }],
  flags: {
    port: {
      type: 'integer',
      value: 'PORT',
      default: HUB_PORT,
      most: 65_535,
      help: 'where to listen; 0 takes one that is free',
    },
    'read-only': { type: 'boolean', help: 'show everything, change nothing: no answers, no typing' },
    'allow-host': {
      type: 'string',
      value: 'NAME',
      multiple: true,
      help: 'a name that your own tunnel calls the hub by; it still listens on this machine alone',
    },
    'socket-dir': { type: 'string', value: 'DIR', help: 'folder of the session sockets' },
  },
  examples: [
    { run: 'heimdall up', does: 'shows the agents of this project at http://127.0.0.1:7717' },
    { run: 'heimdall up ~/src/shop ~/src/site', does: 'shows two projects' },
    { run: 'heimdall up --read-only --port 0', does: 'changes nothing, and listens wherever there is room' },
    { run: 'heimdall up --allow-host box.tail1234.ts.net', does: 'lets your phone in through your own tunnel' },
  ],
  errors: ['HUB_RUNNING', 'HUB_PORT_TAKEN', 'PROJECT_NOT_FOUND', 'SESSION_DIR_UNSAFE', 'CONFIG_INVALID'],
  output: {
    url: 'where the page is',
    port: 'where it listens',
    pid: 'the process',
    projects: 'folders that it shows',
    read_only: 'whether it changes nothing',
    link: 'a link for one visit; null where no person asks',
    added: 'where a hub ran already: whether this project is new to it',
  },
})

export const open = spec({
  names: ['heimdall open'],
  summary: 'A link to the dashboard, good for one visit',
  about:
    'Asks the hub that runs for a new link and prints it. To a person only: whoever has the link can answer for you. ' +
    'The browser that follows it is let in until it was not seen for a week.',
  examples: [{ run: 'heimdall open', does: 'prints the link' }],
  errors: ['HUB_NOT_RUNNING', 'PERSON_REQUIRED'],
  output: { link: 'the link', url: 'where the page is' },
})

export const demo = spec({
  names: ['heimdall demo'],
  summary: 'A small fleet at work, for a minute: six scripted agents, no model, no network',
  about:
    'Makes a scratch repository and lets small programs work in it as agents do: briefs by reference, claims, a ' +
    'collision, a takeover from the dead, a handoff, a refused call that follows its hint, a budget that runs out, a ' +
    'question for you, and a task that is sent on because a server is dead. Everything is done by our own commands, and ' +
    'the page shows it live. It ends by itself, leaves its record to look through, and no process.',
  flags: {
    dir: {
      type: 'string',
      value: 'DIR',
      help: 'where to make the repository; default a new folder in the state folder',
    },
    'no-hub': { type: 'boolean', help: 'without the page' },
    stay: { type: 'boolean', help: 'keep the page up afterwards, until Ctrl-C' },
    fast: { type: 'boolean', help: 'without pauses: nobody watches, somebody wants to know whether it works' },
  },
  examples: [
    { run: 'heimdall demo', does: 'plays for a minute, and prints what happens and where to look' },
    { run: 'heimdall demo --stay', does: 'the same, and the page stays until Ctrl-C' },
    { run: 'heimdall demo --fast --no-hub --json', does: 'prints what is on record at the end, for a program' },
  ],
  errors: ['DEMO_FOLDER_TAKEN', 'DEMO_STUCK', 'HUB_PORT_TAKEN', 'INTERRUPTED'],
  output: {
    root: 'the repository that the fleet worked in',
    url: 'where the page is, or null',
    link: 'a link for one visit; null where no person asks',
    runs: 'array of {run_id, agent, status, calls, refused}',
    events: 'events of coordination, by type',
    tokens: 'of the briefs: verbatim, by_reference, saved_percent; counted, not claimed',
    dispatch: 'the dispatched task: state, and attempts with worker, state and reason',
  },
})

export const hubCommands: readonly Command[] = [
  { spec: up, load: () => import('../commands/up.ts') },
  { spec: open, load: () => import('../commands/open.ts') },
  { spec: demo, load: () => import('../commands/demo.ts') },
]
