// Whatever a command is told to look at and is not there: it says so, with a code of its own row, and never by silence.
import { expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/table.ts'
import { type ErrorCode, ERRORS } from '../../src/errors.ts'
import { temporaryProject } from '../support/project.ts'

/** Words of a command line that name something which has to be there. */
const NAMING_ARGS = /^(?:wait|id|ids|old|key|haid|task|worker|peer|agent|server|call|ref|topic|host|hook|value)$/
const NAMING_FLAGS =
  /^(?:run|agent|claim|message|haid|reverse|adopt|worker|symbols|capsules|facts|depends|thread|from)$/

/** By command and word: a command line that names what is not there, and what it is answered. */
const MISSING: Readonly<Record<string, readonly [ErrorCode, ...string[]]>> = {
  'later wait': ['WAIT_NOT_FOUND', 'later', 'nosuch'],
  'session attach id': ['SESSION_NOT_FOUND', 'session', 'attach', 'nosuch'],
  'session detach id': ['SESSION_NOT_FOUND', 'session', 'detach', 'nosuch'],
  'session rename old': ['SESSION_NOT_FOUND', 'session', 'rename', 'nosuch', 'other'],
  'session status id': ['SESSION_NOT_FOUND', 'session', 'status', 'nosuch'],
  'session kill id': ['SESSION_NOT_FOUND', 'session', 'kill', 'nosuch'],
  'session send id': ['SESSION_NOT_FOUND', 'session', 'send', 'nosuch', 'text'],
  'session report id': ['SESSION_NOT_FOUND', 'session', 'report', 'nosuch', '--working'],
  'session logs id': ['SESSION_NOT_FOUND', 'session', 'logs', 'nosuch'],
  'session peek id': ['SESSION_NOT_FOUND', 'session', 'peek', 'nosuch'],
  'session wait id': ['SESSION_NOT_FOUND', 'session', 'wait', 'nosuch', '--timeout', '1s'],
  'session record id': ['SESSION_NOT_FOUND', 'session', 'record', 'nosuch'],
  'session export id': ['SESSION_NOT_FOUND', 'session', 'export', 'nosuch'],
  'symbol get id': ['SYMBOL_UNKNOWN', 'symbol', 'get', 'AP'],
  'symbol get --reverse': ['SYMBOL_UNKNOWN', 'symbol', 'get', '--reverse', 'nosuch'],
  'symbol reverse value': ['SYMBOL_UNKNOWN', 'symbol', 'reverse', 'nosuch'],
  'symbol rm id': ['SYMBOL_UNKNOWN', 'symbol', 'rm', 'AP'],
  'capsule show id': ['CAPSULE_UNKNOWN', 'capsule', 'show', 'capsule-on'],
  'capsule deps ids': ['CAPSULE_UNKNOWN', 'capsule', 'deps', 'nosuch'],
  'capsule hydrate ids': ['CAPSULE_UNKNOWN', 'capsule', 'hydrate', 'nosuch'],
  'brief build --symbols': ['BRIEF_INCOMPLETE', 'brief', 'build', '--task', 'T', '--spec', 's', '--symbols', 'nosuch'],
  'brief build --capsules': [
    'BRIEF_INCOMPLETE',
    'brief',
    'build',
    '--task',
    'T',
    '--spec',
    's',
    '--capsules',
    'nosuch',
  ],
  'brief build --facts': ['BRIEF_INCOMPLETE', 'brief', 'build', '--task', 'T', '--spec', 's', '--facts', 'nosuch'],
  'fact get key': ['FACT_UNKNOWN', 'fact', 'get', 'dev_por'],
  'tokens report --run': ['RUN_NOT_FOUND', 'tokens', 'report', '--run', 'nosuch'],
  'tokens delta --run': ['RUN_NOT_FOUND', 'tokens', 'delta', '--run', 'nosuch'],
  'agent init --adopt': ['AGENT_NOT_FOUND', 'agent', 'init', '--adopt', 'nosuch'],
  'agent show --agent': ['AGENT_NOT_FOUND', 'agent', 'show', '--agent', 'ambr-otter'],
  'agent heartbeat --agent': ['AGENT_NOT_FOUND', 'agent', 'heartbeat', '--agent', 'ambr-otter'],
  'agent reserve --agent': ['AGENT_NOT_FOUND', 'agent', 'reserve', '--agent', 'nosuch', '--scope', 'a'],
  'agent release --agent': ['AGENT_NOT_FOUND', 'agent', 'release', '--agent', 'nosuch', '--scope', 'a'],
  'agent status --agent': ['AGENT_NOT_FOUND', 'agent', 'status', '--agent', 'ambr-otter'],
  'agent end --agent': ['AGENT_NOT_FOUND', 'agent', 'end', '--agent', 'nosuch'],
  'note send --from': [
    'UNKNOWN_SENDER',
    ...'note send --from nosuch --to amber-otter --category STATUS --subject x --body y'.split(' '),
  ],
  'note inbox --agent': ['AGENT_NOT_FOUND', 'note', 'inbox', '--agent', 'ambr-otter'],
  'note read --agent': ['AGENT_NOT_FOUND', 'note', 'read', '--agent', 'nosuch', '--message', 'nosuch'],
  'note read --message': ['MESSAGE_NOT_FOUND', 'note', 'read', '--agent', 'amber-otter', '--message', 'nosuch'],
  'note ack --agent': ['AGENT_NOT_FOUND', 'note', 'ack', '--agent', 'nosuch', '--message', 'nosuch'],
  'note ack --message': ['MESSAGE_NOT_FOUND', 'note', 'ack', '--agent', 'amber-otter', '--message', 'nosuch'],
  'claim take --agent': ['AGENT_NOT_FOUND', 'claim', 'take', 'a', '--agent', 'nosuch'],
  'claim renew --agent': ['AGENT_NOT_FOUND', 'claim', 'renew', 'a', '--agent', 'nosuch'],
  'claim renew --claim': ['RESERVATION_NOT_FOUND', 'claim', 'renew', '--agent', 'amber-otter', '--claim', 'nosuch'],
  'claim release --agent': ['AGENT_NOT_FOUND', 'claim', 'release', 'a', '--agent', 'nosuch'],
  'claim release --claim': ['RESERVATION_NOT_FOUND', 'claim', 'release', '--agent', 'amber-otter', '--claim', 'nosuch'],
  'claim takeover --agent': ['AGENT_NOT_FOUND', 'claim', 'takeover', 'a', '--agent', 'nosuch'],
  'claim wait --agent': ['AGENT_NOT_FOUND', 'claim', 'wait', 'a', '--agent', 'nosuch', '--timeout', '1s'],
  'claim history --agent': ['AGENT_NOT_FOUND', 'claim', 'history', '--agent', 'ambr-otter'],
  'task start --agent': ['AGENT_NOT_FOUND', 'task', 'start', 'T-2', '--agent', 'nosuch'],
  'task done --agent': ['AGENT_NOT_FOUND', 'task', 'done', 'T-1', '--agent', 'nosuch', '--summary', 'x'],
  'task done task': ['TASK_NOT_FOUND', 'task', 'done', 'TASK-11', '--agent', 'amber-otter', '--summary', 'x'],
  'haid heartbeat haid': ['AGENT_NOT_FOUND', 'haid', 'heartbeat', 'haid:ana.box-1f2e/nosuch'],
  'haid get haid': ['AGENT_NOT_FOUND', 'haid', 'get', 'haid:ana.box-1f2e/nosuch'],
  'dispatch send --symbols': ['BRIEF_INCOMPLETE', 'dispatch', 'send', 'x', '--symbols', 'nosuch'],
  'dispatch send --capsules': ['BRIEF_INCOMPLETE', 'dispatch', 'send', 'x', '--capsules', 'nosuch'],
  'dispatch send --facts': ['BRIEF_INCOMPLETE', 'dispatch', 'send', 'x', '--facts', 'nosuch'],
  'dispatch explain task': ['TASK_NOT_FOUND', 'dispatch', 'explain', 'nosuch'],
  'dispatch show task': ['TASK_NOT_FOUND', 'dispatch', 'show', 'nosuch'],
  'dispatch cancel task': ['TASK_NOT_FOUND', 'dispatch', 'cancel', 'nosuch'],
  'dispatch retry task': ['TASK_NOT_FOUND', 'dispatch', 'retry', 'nosuch'],
  'dispatch answer task': ['TASK_NOT_FOUND', 'dispatch', 'answer', 'nosuch', 'text'],
  'worker announce worker': ['WORKER_NOT_FOUND', 'worker', 'announce', 'nosuch'],
  'worker drain worker': ['WORKER_NOT_FOUND', 'worker', 'drain', 'nosuch'],
  'peers check peer': ['PEER_NOT_FOUND', 'peers', 'check', 'nosuch'],
  'guard run hook': ['USAGE', 'guard', 'run', 'nosuch'],
  'worktree diff agent': ['WORKTREE_NOT_FOUND', 'worktree', 'diff', 'nosuch'],
  'worktree merge agent': ['WORKTREE_NOT_FOUND', 'worktree', 'merge', 'nosuch'],
  'worktree remove agent': ['WORKTREE_NOT_FOUND', 'worktree', 'remove', 'nosuch'],
  'policy diff --run': ['RUN_NOT_FOUND', 'policy', 'diff', 'policy.yaml', 'policy.yaml', '--run', 'nosuch'],
  'policy replay --run': ['RUN_NOT_FOUND', 'policy', 'replay', 'policy.yaml', '--run', 'nosuch'],
  'approvals list --run': ['RUN_NOT_FOUND', 'approvals', 'list', '--run', 'nosuch'],
  'pin list server': ['PIN_NOT_FOUND', 'pin', 'list', 'nosuch'],
  'pin show server': ['PIN_NOT_FOUND', 'pin', 'show', 'nosuch'],
  'init host': ['USAGE', 'init', 'nosuch'],
  'uninstall host': ['USAGE', 'uninstall', 'nosuch'],
  'hook host': ['USAGE', 'hook', 'nosuch'],
  'import host': ['USAGE', 'import', 'cursr'],
  'restore host': ['USAGE', 'restore', 'nosuch'],
  'runs show id': ['RUN_NOT_FOUND', 'runs', 'show', 'nightly-11'],
  'events query --run': ['RUN_NOT_FOUND', 'events', 'query', '--run', 'nightly-11'],
  'events show call': ['CALL_NOT_FOUND', 'events', 'show', 'nosuch'],
  'events show --run': ['RUN_NOT_FOUND', 'events', 'show', 'nosuch', '--run', 'nosuch'],
  'events tail --run': ['RUN_NOT_FOUND', 'events', 'tail', '--run', 'nosuch'],
  'events export --run': ['RUN_NOT_FOUND', 'events', 'export', '--run', 'nosuch'],
  'help topic': ['USAGE', 'help', 'nosuch'],
  'config get key': ['USAGE', 'config', 'get', 'clasifier'],
}

/** Words that look like it and name nothing that has to be there. */
const OTHERS: Readonly<Record<string, string>> = {
  'run --agent': 'an agent that is new is registered',
  'session pipe id': 'answers in the words of its own protocol',
  'session export --from': 'a file',
  'symbol set id': 'made by this',
  'symbol set value': 'made by this',
  'capsule write id': 'made by this',
  'capsule write --depends': 'may be written later; hydrating says so',
  'task-result done --depends': 'as with capsule write',
  'task-result done --from': 'a role',
  'gate to-message --from': 'a role',
  'fact set key': 'made by this',
  'fact set value': 'made by this',
  'fact del key': 'one that is not there is no error, and said in words',
  'tokens log --run': 'made by this',
  'note send --thread': 'made by this',
  'claim check --agent': 'what is clear is clear for whoever is new as well',
  'claim release --haid': 'the seed’s word for whoever calls',
  'claim show --haid': 'the seed prints that it holds nothing',
  'claim heartbeat --haid': 'registers whoever is new, as in the seed',
  'claim history --claim': 'a filter: claims that were refused never had a record',
  'task start task': 'made by this',
  'haid register --haid': 'made by this',
  'haid revoke haid': 'asks for a person first',
  'haid reinstate haid': 'asks for a person first',
  'haid check haid': 'says in its answer whether it is known',
  'haid trailer haid': 'prints any HAID as a trailer',
  'dispatch send --worker': 'the task waits for a worker that comes later, and says so',
  'dispatch explain --worker': 'part of what is explained',
  'worktree merge --message': 'made by this',
  'policy init --from': 'has choices',
  'approvals allow --run': 'an answer for a whole run',
  'approvals deny --run': 'an answer for a whole run',
  'approvals allow id': 'asks for a person first',
  'approvals deny id': 'asks for a person first',
  'pin approve server': 'asks for a person first',
  'pin forget server': 'asks for a person first',
  'secrets add ref': 'made by this',
  'secrets remove ref': 'asks for a person first',
  'runs exec --run': 'made by this',
  'runs exec --agent': 'a name in events',
  'runs show --from': 'an offset',
  'events query --agent': 'a filter, like all but the run',
  'events export --agent': 'a filter, like all but the run',
  'config set key': 'asks for a person first',
  'config set value': 'made by this',
}

const wordOf = (name: string): string => name.replace(/^heimdall /, '')

test('every word that names something is known here', () => {
  const found = COMMANDS.flatMap(({ spec }) => {
    const [name] = spec.names
    const args = (spec.args ?? []).filter((arg) => NAMING_ARGS.test(arg.name)).map((arg) => arg.name)
    const flags = Object.keys(spec.flags ?? {}).filter((flag) => NAMING_FLAGS.test(flag))
    return [...args, ...flags.map((flag) => `--${flag}`)].map((word) => `${wordOf(name)} ${word}`)
  })
  const known = new Set([...Object.keys(MISSING), ...Object.keys(OTHERS)])
  expect(found.filter((one) => !known.has(one))).toEqual([])
  expect([...known].filter((one) => !found.includes(one))).toEqual([])
})

test('what is not there is said, with a code that the command’s page names, and what is near', async () => {
  const project = temporaryProject()
  project.write('policy.yaml', 'policy_id: p\npolicy_version: "1"\nmode: observe\nrules: []\n')
  const setup = [
    ['protocol', 'init'],
    ['symbol', 'set', 'API', '/srv/api'],
    ['capsule', 'write', 'capsule-one', '--what', 'x'],
    ['fact', 'set', 'dev_port', '80'],
    ['agent', 'register', '--name', 'amber-otter', '--role', 'backend'],
    ['task', 'start', 'TASK-1', '--agent', 'amber-otter'],
    ['runs', 'exec', '--run', 'nightly-1', '--', 'true'],
  ]
  for (const args of setup) {
    const { code, stderr } = await project.run('heimdall', args)
    expect({ args, code }, stderr).toEqual({ args, code: 0 })
  }
  const hints = new Map<string, string>()
  const entries = Object.entries(MISSING)
  const wrong: unknown[] = []
  const look = async ([what, [code, ...args]]: (typeof entries)[number]): Promise<void> => {
    const asJson = await project.run('heimdall', [...args, '--json'], { stdin: '' })
    const { error } = JSON.parse(asJson.stdout) as { error: { code: ErrorCode; hint?: string } | null }
    hints.set(what, error?.hint ?? '')
    const plain = await project.run('heimdall', args, { stdin: '' })
    const { spec } = COMMANDS.find((command) => what.startsWith(`${wordOf(command.spec.names[0])} `)) ?? {}
    const found = {
      what,
      code: error?.code,
      exit: [asJson.code, plain.code],
      stdout: plain.stdout,
      lines: plain.stderr.split('\n').filter((line) => line.startsWith('error: ')).length,
      isOnItsPage: code === 'USAGE' || spec?.errors?.includes(code),
    }
    const exit = [ERRORS[code].exit, ERRORS[code].exit]
    const wanted = { what, code, exit, stdout: '', lines: 1, isOnItsPage: true }
    if (JSON.stringify(found) !== JSON.stringify(wanted)) wrong.push(found)
  }
  for (let at = 0; at < entries.length; at += 6) await Promise.all(entries.slice(at, at + 6).map(look))
  expect(wrong).toEqual([])
  const near = {
    'symbol get id': 'API',
    'symbol rm id': 'API',
    'capsule show id': 'capsule-one',
    'fact get key': 'dev_port',
    'agent show --agent': 'amber-otter',
    'agent heartbeat --agent': 'amber-otter',
    'claim history --agent': 'amber-otter',
    'task done task': 'TASK-1',
    'runs show id': 'nightly-1',
    'events query --run': 'nightly-1',
    'import host': 'cursor',
    'config get key': 'classifier',
  }
  expect(Object.fromEntries(Object.keys(near).map((what) => [what, hints.get(what)]))).toEqual(
    Object.fromEntries(Object.entries(near).map(([what, name]) => [what, `did you mean ${name}?`])),
  )
})

test('in a file of events too', async () => {
  const project = temporaryProject()
  const { code, stdout } = await project.run('heimdall', ['events', 'query', '--file', 'nosuch.jsonl', '--json'])
  expect({ code, said: stdout }).toMatchObject({
    code: 3,
    said: expect.stringContaining('EVENTS_UNREADABLE') as string,
  })
  await project.run('heimdall', ['runs', 'exec', '--run', 'nightly-1', '--', 'true'])
  const record = `${project.home}/.local/state/heimdall/runs/nightly-1/events.jsonl`
  const inFile = await project.run('heimdall', ['events', 'export', '--file', record, '--run', 'nosuch'])
  expect(inFile).toMatchObject({ code: 3, stdout: '' })
  expect(inFile.stderr).toContain('is of a run "nosuch"')
})
