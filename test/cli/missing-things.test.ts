// Whatever a command is told to look at and is not there: it says so, with a code of its own row, and never by silence.
import { expect, test } from 'vitest'
import { allCommands } from '../../src/cli/nouns.ts'

const COMMANDS = await allCommands()
import { exitOf } from '../../src/cli/manners.ts'
import { type ErrorCode, HeimdallError } from '../../src/errors.ts'
import { temporaryProject } from '../support/project.ts'

/** Words of a command line that name something which has to be there. */
const NAMING_ARGS = /^(?:wait|id|ids|old|key|haid|task|worker|peer|agent|server|call|ref|topic|host|hook|value)$/
const NAMING_FLAGS =
  /^(?:run|agent|claim|message|haid|reverse|adopt|worker|symbols|capsules|facts|depends|thread|from)$/

/** By command and word: a command line that names what is not there, and what it is answered. */
const MISSING: Readonly<Record<string, readonly [ErrorCode, ...string[]]>> = {
  'snooze wait': ['WAIT_NOT_FOUND', 'snooze', 'nosuch'],
  'attach id': ['SESSION_NOT_FOUND', 'attach', 'nosuch'],
  'hm detach id': ['SESSION_NOT_FOUND', 'detach', 'nosuch'],
  'hm rename old': ['SESSION_NOT_FOUND', 'rename', 'nosuch', 'other'],
  'hm status id': ['SESSION_NOT_FOUND', 'status', 'nosuch'],
  'kill id': ['SESSION_NOT_FOUND', 'kill', 'nosuch'],
  'send id': ['SESSION_NOT_FOUND', 'send', 'nosuch', 'text'],
  'hm report id': ['SESSION_NOT_FOUND', 'report', 'nosuch', '--working'],
  'logs id': ['SESSION_NOT_FOUND', 'logs', 'nosuch'],
  'hm peek id': ['SESSION_NOT_FOUND', 'peek', 'nosuch'],
  'hm wait id': ['SESSION_NOT_FOUND', 'wait', 'nosuch', '--timeout', '1s'],
  'hm record id': ['SESSION_NOT_FOUND', 'record', 'nosuch'],
  'hm export id': ['SESSION_NOT_FOUND', 'export', 'nosuch'],
  'symbol get id': ['SYMBOL_UNKNOWN', 'symbol', 'get', 'AP'],
  'symbol get --reverse': ['SYMBOL_UNKNOWN', 'symbol', 'get', '--reverse', 'nosuch'],
  'symbol remove id': ['SYMBOL_UNKNOWN', 'symbol', 'remove', 'AP'],
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
  'bb-init --adopt': ['AGENT_NOT_FOUND', '--adopt', 'nosuch'],
  'agent show agent': ['AGENT_NOT_FOUND', 'agent', 'show', 'ambr-otter'],
  'bb agent show --agent': ['AGENT_NOT_FOUND', 'agent', 'show', '--agent', 'ambr-otter'],
  'bb agent heartbeat --agent': ['AGENT_NOT_FOUND', 'agent', 'heartbeat', '--agent', 'ambr-otter'],
  'bb agent reserve --agent': ['AGENT_NOT_FOUND', 'agent', 'reserve', '--agent', 'nosuch', '--scope', 'a'],
  'bb agent release --agent': ['AGENT_NOT_FOUND', 'agent', 'release', '--agent', 'nosuch', '--scope', 'a'],
  'bb agent status --agent': ['AGENT_NOT_FOUND', 'agent', 'status', '--agent', 'ambr-otter'],
  'agent end agent': ['AGENT_NOT_FOUND', 'agent', 'end', 'nosuch'],
  'note send --from': [
    'UNKNOWN_SENDER',
    ...'note send --from nosuch --to amber-otter --category INFO --subject x --body y'.split(' '),
  ],
  'bb agent send --from': [
    'UNKNOWN_SENDER',
    ...'agent send --from nosuch --to amber-otter --category STATUS --subject x --body y'.split(' '),
  ],
  'bb agent inbox --agent': ['AGENT_NOT_FOUND', 'agent', 'inbox', '--agent', 'ambr-otter'],
  'bb agent read --agent': ['AGENT_NOT_FOUND', ...'agent read --agent nosuch --message nosuch'.split(' ')],
  'bb agent read --message': ['MESSAGE_NOT_FOUND', ...'agent read --agent amber-otter --message nosuch'.split(' ')],
  'bb agent ack --agent': ['AGENT_NOT_FOUND', ...'agent ack --agent nosuch --message nosuch'.split(' ')],
  'bb agent ack --message': ['MESSAGE_NOT_FOUND', ...'agent ack --agent amber-otter --message nosuch'.split(' ')],
  'note list --agent': ['AGENT_NOT_FOUND', 'note', 'list', '--agent', 'ambr-otter'],
  'note read --agent': ['AGENT_NOT_FOUND', 'note', 'read', '--agent', 'nosuch', 'nosuch'],
  'note read id': ['MESSAGE_NOT_FOUND', 'note', 'read', '--agent', 'amber-otter', 'nosuch'],
  'note ack --agent': ['AGENT_NOT_FOUND', 'note', 'ack', '--agent', 'nosuch', 'nosuch'],
  'note ack id': ['MESSAGE_NOT_FOUND', 'note', 'ack', '--agent', 'amber-otter', 'nosuch'],
  'claim --agent': ['AGENT_NOT_FOUND', 'claim', 'a', '--agent', 'nosuch'],
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
  'heimdall-haid heartbeat haid': ['AGENT_NOT_FOUND', 'heartbeat', 'haid:ana.box-1f2e/nosuch'],
  'heimdall-haid get haid': ['AGENT_NOT_FOUND', 'get', 'haid:ana.box-1f2e/nosuch'],
  'task add --symbols': ['BRIEF_INCOMPLETE', 'task', 'add', 'x', '--symbols', 'nosuch'],
  'task add --capsules': ['BRIEF_INCOMPLETE', 'task', 'add', 'x', '--capsules', 'nosuch'],
  'task add --facts': ['BRIEF_INCOMPLETE', 'task', 'add', 'x', '--facts', 'nosuch'],
  'task explain task': ['TASK_NOT_FOUND', 'task', 'explain', 'nosuch'],
  'task show task': ['TASK_NOT_FOUND', 'task', 'show', 'nosuch'],
  'task diff task': ['TASK_NOT_FOUND', 'task', 'diff', 'nosuch'],
  'task merge task': ['TASK_NOT_FOUND', 'task', 'merge', 'nosuch'],
  'task pr task': ['TASK_NOT_FOUND', 'task', 'pr', 'nosuch'],
  'task discard task': ['TASK_NOT_FOUND', 'task', 'discard', 'nosuch'],
  'task reply task': ['TASK_NOT_FOUND', 'task', 'reply', 'nosuch', 'text'],
  'task cancel task': ['TASK_NOT_FOUND', 'task', 'cancel', 'nosuch'],
  'task retry task': ['TASK_NOT_FOUND', 'task', 'retry', 'nosuch'],
  'task answer task': ['TASK_NOT_FOUND', 'task', 'answer', 'nosuch', 'text'],
  'worker announce worker': ['WORKER_NOT_FOUND', 'worker', 'announce', 'nosuch'],
  'worker drain worker': ['WORKER_NOT_FOUND', 'worker', 'drain', 'nosuch'],
  'peers check peer': ['PEER_NOT_FOUND', 'peers', 'check', 'nosuch'],
  'guard run hook': ['USAGE', 'guard', 'run', 'nosuch'],
  'diff agent': ['WORKTREE_NOT_FOUND', 'diff', 'nosuch'],
  'merge agent': ['WORKTREE_NOT_FOUND', 'merge', 'nosuch'],
  'worktree remove agent': ['WORKTREE_NOT_FOUND', 'worktree', 'remove', 'nosuch'],
  'policy diff --run': ['RUN_NOT_FOUND', 'policy', 'diff', 'policy.yaml', 'policy.yaml', '--run', 'nosuch'],
  'policy replay --run': ['RUN_NOT_FOUND', 'policy', 'replay', 'policy.yaml', '--run', 'nosuch'],
  'sub approvals list --run': ['RUN_NOT_FOUND', 'approvals', 'list', '--run', 'nosuch'],
  'mcp pins list server': ['PIN_NOT_FOUND', 'mcp', 'pins', 'list', 'nosuch'],
  'mcp pins show server': ['PIN_NOT_FOUND', 'mcp', 'pins', 'show', 'nosuch'],
  'init host': ['USAGE', 'init', 'nosuch'],
  'uninstall host': ['USAGE', 'uninstall', 'nosuch'],
  'hook host': ['USAGE', 'hook', 'nosuch'],
  'mcp import host': ['USAGE', 'mcp', 'import', 'cursr'],
  'mcp restore host': ['USAGE', 'mcp', 'restore', 'nosuch'],
  'runs show id': ['RUN_NOT_FOUND', 'runs', 'show', 'nightly-11'],
  'events --run': ['RUN_NOT_FOUND', 'events', '--run', 'nightly-11'],
  'cost agent': ['AGENT_NOT_FOUND', 'cost', 'nosuch'],
  'cost --agent': ['AGENT_NOT_FOUND', 'cost', '--agent', 'nosuch'],
  'cost --run': ['RUN_NOT_FOUND', 'cost', '--run', 'nosuch'],
  'events show call': ['CALL_NOT_FOUND', 'events', 'show', 'nosuch'],
  'events show --run': ['RUN_NOT_FOUND', 'events', 'show', 'nosuch', '--run', 'nosuch'],
  'events tail --run': ['RUN_NOT_FOUND', 'events', 'tail', '--run', 'nosuch'],
  'events export --run': ['RUN_NOT_FOUND', 'events', 'export', '--run', 'nosuch'],
  'help topic': ['USAGE', 'help', 'nosuch'],
  'config get key': ['USAGE', 'config', 'get', 'clasifier'],
  'config set key': ['USAGE', 'config', 'set', 'clasifier', 'none'],
}

/** Words that look like it and name nothing that has to be there. */
const OTHERS: Readonly<Record<string, string>> = {
  'run --agent': 'an agent that is new is registered',
  'hm pipe id': 'answers in the words of its own protocol',
  'hm export --from': 'a file',
  'symbol set id': 'made by this',
  'symbol set value': 'made by this',
  'capsule write id': 'made by this',
  'capsule write --depends': 'may be written later; hydrating says so',
  'heimdall-task-result done --depends': 'as with capsule write',
  'heimdall-task-result done --from': 'a role',
  'gate to-message --from': 'a role',
  'fact set key': 'made by this',
  'fact set value': 'made by this',
  'fact remove key': 'one that is not there is no error, and said in words',
  'tokens log --run': 'made by this',
  'note send --thread': 'made by this',
  'bb agent send --thread': 'made by this',
  'claim check --agent': 'what is clear is clear for whoever is new as well',
  'claim release --haid': 'the seed’s word for whoever calls',
  'heimdall-claim show --haid': 'the seed prints that it holds nothing',
  'heimdall-claim heartbeat --haid': 'registers whoever is new, as in the seed',
  'claim history --claim': 'a filter: claims that were refused never had a record',
  'task start task': 'made by this',
  'heimdall-haid register --haid': 'made by this',
  'agent revoke agent': 'asks for a human first',
  'agent reinstate agent': 'asks for a human first',
  'heimdall-haid revoke haid': 'asks for a human first',
  'heimdall-haid reinstate haid': 'asks for a human first',
  'heimdall-haid check haid': 'says in its answer whether it is known',
  'heimdall-haid trailer haid': 'prints any HAID as a trailer',
  'task add --worker': 'the task waits for a worker that comes later, and says so',
  'task explain --worker': 'part of what is explained',
  'merge --message': 'made by this',
  'task merge --message': 'made by this',
  'policy init --from': 'has choices',
  'approve --run': 'an answer for a whole run',
  'deny --run': 'an answer for a whole run',
  'deny --message': 'made by this',
  'approve id': 'asks for a person first',
  'deny id': 'asks for a person first',
  'sub approvals allow --run': 'an answer for a whole run',
  'sub approvals deny --run': 'an answer for a whole run',
  'sub approvals deny --message': 'made by this',
  'sub approvals allow id': 'asks for a person first',
  'sub approvals deny id': 'asks for a person first',
  'mcp pins approve server': 'asks for a person first',
  'mcp pins remove server': 'asks for a person first',
  'mcp secrets add ref': 'made by this',
  'mcp secrets remove ref': 'asks for a person first',
  'sub run --run': 'made by this',
  'sub run --agent': 'a name in events',
  'events --agent': 'a filter, like all but the run',
  'events export --agent': 'a filter, like all but the run',
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
    ['agent', 'add', 'amber-otter', '--role', 'backend'],
    ['task', 'start', 'TASK-1', '--agent', 'amber-otter'],
  ]
  for (const args of setup) {
    const { code, stderr } = await project.run('heimdall', args)
    expect({ args, code }, stderr).toEqual({ args, code: 0 })
  }
  expect(await project.run('sub', ['run', '--run', 'nightly-1', '--', 'true'])).toMatchObject({ code: 0 })
  const hints = new Map<string, string>()
  const entries = Object.entries(MISSING)
  const wrong: unknown[] = []
  const look = async ([what, [code, ...args]]: (typeof entries)[number]): Promise<void> => {
    const bin = /^(?:hm|bb-init|bb|sub|heimdall-\S+)(?= )/.exec(what)?.[0] ?? 'heimdall'
    const asJson = await project.run(bin, [...args, '--json'], { stdin: '' })
    const { error } = JSON.parse(asJson.stdout) as { error: { code: ErrorCode; hint?: string } | null }
    hints.set(what, error?.hint ?? '')
    const plain = await project.run(bin, args, { stdin: '' })
    const found = {
      what,
      code: error?.code,
      exit: [asJson.code, plain.code],
      // bb-init prints JSON only.
      stdout: bin === 'bb-init' ? '' : plain.stdout,
      lines:
        bin === 'bb-init' ? 1 : plain.stderr.split('\n').filter((line) => /^(error: |Error: \[)/.test(line)).length,
    }
    const failed = exitOf(new HeimdallError(code, ''), bin, bin !== 'heimdall')
    const exit = [failed, failed]
    const wanted = { what, code, exit, stdout: '', lines: 1 }
    if (JSON.stringify(found) !== JSON.stringify(wanted)) wrong.push(found)
  }
  for (let at = 0; at < entries.length; at += 6) await Promise.all(entries.slice(at, at + 6).map(look))
  expect(wrong).toEqual([])
  const near = {
    'symbol get id': 'API',
    'symbol remove id': 'API',
    'capsule show id': 'capsule-one',
    'fact get key': 'dev_port',
    'agent show agent': 'amber-otter',
    'bb agent heartbeat --agent': 'amber-otter',
    'claim history --agent': 'amber-otter',
    'task done task': 'TASK-1',
    'runs show id': 'nightly-1',
    'events --run': 'nightly-1',
    'mcp import host': 'cursor',
  }
  expect(Object.fromEntries(Object.keys(near).map((what) => [what, hints.get(what)]))).toEqual(
    Object.fromEntries(Object.entries(near).map(([what, name]) => [what, `did you mean ${name}?`])),
  )
})

test('in a file of events too', async () => {
  const project = temporaryProject()
  const { code, stdout } = await project.run('heimdall', ['events', '--file', 'nosuch.jsonl', '--json'])
  expect({ code, said: stdout }).toMatchObject({
    code: 3,
    said: expect.stringContaining('EVENTS_UNREADABLE') as string,
  })
  await project.run('sub', ['run', '--run', 'nightly-1', '--', 'true'])
  const record = `${project.home}/.local/state/heimdall/runs/nightly-1/events.jsonl`
  const inFile = await project.run('heimdall', ['events', 'export', '--file', record, '--run', 'nosuch'])
  expect(inFile).toMatchObject({ code: 3, stdout: '' })
  expect(inFile.stderr).toContain('has no event of run "nosuch"')
})
