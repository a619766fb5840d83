// heimdall top in a real terminal: who waits stands first, is answered by a key, attached to and come back from, and the terminal is as it was.
import { expect, test } from 'vitest'
import { TOP_KEYS } from '../../src/cli/commands/top-board.ts'
import { type OwnTerminal, ownTerminal } from '../support/own-terminal.ts'
import { launcher } from '../support/programs.ts'
import { temporaryProject, type TemporaryProject } from '../support/project.ts'
import { calls } from '../support/sample-agents.ts'
import { parcelworks } from '../support/sample-fleet.ts'
import { openPane } from '../support/tmux.ts'
import { until } from '../support/wait.ts'

test('waits are answered from top, one by a command and one by hand; a pipe gets one frame', async () => {
  const fleet = parcelworks()
  const env = { ...fleet.env, ...fleet.more }
  await fleet.start({
    id: 'careful-crow',
    screen: '',
    does: [calls('files', [['delete_file', { path: 'docs/api.md' }]])],
  })
  await fleet.start({
    id: 'amber-otter',
    task: ['AUTH-118', 'Rotate refresh tokens'],
    claims: ['src/auth/**'],
    screen: 'Keep it?',
    does: ["hm report --needs-input 'Keep it?'"],
  })
  await fleet.start({ id: 'slate-heron', screen: 'Which one?', does: ["hm report --needs-input 'Which one?'"] })
  const waiting = async (): Promise<string> => (await fleet.run('heimdall', ['status', '-q'], { env })).stdout.trim()
  await until('all waits', async () => (await waiting()) === '3')

  const once = await fleet.run('heimdall', ['top'], { env: { ...env, LC_ALL: 'C' } })
  expect(once.stdout).toMatch(/^project {2}!!! {2}! 3 wait for you oldest \d+s {2}3 agents/)
  expect(once.stdout).toMatch(/\n {2}! needs you +amber-otter +\d+s +Rotate refresh tokens +question: Keep it\? +1 /)
  expect(once.stdout).toMatch(/^[\n\u0020-\u007e]*$/)
  const json = await fleet.run('heimdall', ['top', '--json'], { env })
  expect(JSON.parse(json.stdout)).toMatchObject({
    data: { counts: { waiting: 3 }, agents: Array.from({ length: 3 }, () => ({ guard: { kind: 'advisory' } })) },
  })

  // What a policy asks is a person's to answer, at a terminal that no agent is above.
  const person = ownTerminal([...launcher('heimdall'), 'top'], { cwd: fleet.root, env })
  await person.see('[1] Allow once   [2] Allow for this run   [3] Deny for this run')
  person.type('1')
  await person.see('done: heimdall approve')
  person.type('q')
  expect(await person.ended).toBe(0)
  // The record of the wait has who answered, and what.
  const ends = async (): Promise<string> =>
    (await fleet.run('heimdall', ['events', '--type', 'wait_end', '--json'], { env })).stdout
  await until('the end of the wait', async () => /"answer":"allowed, once","answered_by":"[^"]+"/.test(await ends()))

  const pane = await openPane([...launcher('heimdall'), 'top'], { cols: 150, rows: 20, env, cwd: fleet.root })
  // What was answered is no wait any more, although its shim has not told the session so yet.
  await pane.see('◆ 2 wait for you')
  // A key is the host's own choice of that number, as on the page.
  await pane.type('/heron\r')
  await pane.see('[1] Its choice 1   [2] Its choice 2   [3] Its choice 3   [4] Type into the session')
  await pane.type('2')
  await pane.see('◆ 1 waits for you')
  expect((await fleet.run('hm', ['logs', 'slate-heron'], { env })).stdout).toContain('you said: 2')
  await pane.type('\u001b')
  await pane.see('/ filter   s sort')
  await pane.type('?')
  await pane.see('snooze its wait for 15 minutes')
  await pane.type('?g')
  await pane.see(/> ◆ needs you +amber-otter .*question: Keep it/)
  await pane.type('/otter\r')
  await pane.see('/ filter (otter)')
  // Nobody is seen to sit at this terminal.
  await pane.type('z')
  await pane.see('snoozing needs a human')
  await pane.type('\r')
  await pane.see('[hm] amber-otter')
  await pane.type('yes\r')
  await pane.see('✓ nothing waits for you')
  expect((await fleet.run('hm', ['logs', 'amber-otter'], { env })).stdout).toContain('you said: yes')
  await pane.type('q')
  await until('the screen as it was', async () => {
    const screen = (await pane.capture()).join('\n')
    return screen.includes('[answered; heimdall attach amber-otter') && !screen.includes('nothing waits')
  })
})

/** Two agents, each blocked by a note: waits that a command answers, without a session to attach to. */
async function twoNotes(): Promise<TemporaryProject> {
  const project = temporaryProject()
  for (const name of ['amber-otter', 'brisk-heron'])
    await project.run('heimdall', ['agent', 'add', name, '--role', 'backend'])
  const note = (from: string, to: string): string[] =>
    `note send --from ${from} --to ${to} --category BLOCKED --subject from-${from} --body held`.split(' ')
  await project.run('heimdall', note('amber-otter', 'brisk-heron'))
  await project.run('heimdall', note('brisk-heron', 'amber-otter'))
  return project
}

const sitDown = ({ root, env }: TemporaryProject, ...args: string[]): OwnTerminal =>
  ownTerminal([...launcher('heimdall'), ...args], { cwd: root, env: { ...env, USER: 'ana' } })

const seenTimes = (person: OwnTerminal, text: string, times: number): Promise<true> =>
  until(`${times} times ${text}`, () => person.written().split(text).length > times, {
    context: () => person.written(),
  })

test('top takes keys again after a command that it ran, whatever leaves the prompt', async () => {
  const project = await twoNotes()
  const help = await project.run('heimdall', ['top', '--help'])
  for (const [keys, does] of TOP_KEYS) expect(help.stdout).toContain(`${keys}: ${does}`)

  const person = sitDown(project, 'top')
  await person.see('2 wait for you')
  let prompts = 0
  for (const [key, command] of [
    ['c', 'heimdall claim list'],
    ['d', 'heimdall events --agent'],
    ['c', 'heimdall claim list'],
  ] as const) {
    person.type(key)
    await seenTimes(person, 'Enter goes back.', ++prompts)
    expect(person.written()).toContain(`$ ${command}`)
    person.type('\r')
    await seenTimes(person, '\u001b[?1049h', prompts + 1)
  }
  person.type('q')
  expect(await person.ended).toBe(0)

  // Ctrl-C and the end of input at the prompt end it: no key could be read afterwards.
  for (const typed of ['\u0003', '\u0004']) {
    const leaving = sitDown(project, 'top')
    await leaving.see('2 wait for you')
    leaving.type('c')
    await leaving.see('Enter goes back.')
    leaving.type(typed)
    expect([typed, await leaving.ended]).toEqual([typed, 0])
  }
})

test('next asks about every wait, not only the first', async () => {
  const project = await twoNotes()
  const person = sitDown(project, 'next')
  await seenTimes(person, '? ', 1)
  person.type('1\r')
  await seenTimes(person, 'q  quit', 2)
  person.type('1\r')
  expect(await person.ended).toBe(0)
  expect(person.written()).toContain('Nothing waits for you.')
  expect((await project.run('heimdall', ['status', '-q'])).stdout.trim()).toBe('0')
})
