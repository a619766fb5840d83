// Who did what to a session is on its record, by processes: an agent by its name, else the user. And only the session's
// own programs may say what is to be covered in its recording.
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readExitRecord, readHolder } from '../../src/sessions/session-files.ts'
import { hm, type Hm } from '../hm/hm.ts'
import { atTerminal } from '../hm/person.ts'
import { spine } from '../spine/spine.ts'
import { fixture } from '../support/programs.ts'
import { until } from '../support/wait.ts'

const USER = userInfo().username
const PATH = `${resolve('bin')}:${process.env['PATH'] ?? ''}`
const VALUE = 'the-word-that-one-agent-wants-gone'
const SHOWS = ['sh', '-c', `read x; echo "say ${VALUE} aloud"; cat`]

const acts = async (home: Hm, id: string): Promise<unknown> => (await home.json(['status', id]))['acts']
const recordingOf = (home: Hm, id: string): string => join(home.home, `${id}.cast`)

/** A session of an agent, in which commands are typed. */
async function agentSession(home: Hm, agent: string): Promise<(line: string) => Promise<void>> {
  const { code, stderr } = await home.run(['run', '--id', agent, '--detach', '--', 'sh'], {
    env: { PATH, HEIMDALL_AGENT_ID: agent },
  })
  if (code !== 0) throw new Error(stderr)
  return async (line) => void (await home.run(['send', agent, line, '--enter']))
}

async function recorded(home: Hm, id: string): Promise<void> {
  await home.session(id, SHOWS, ['--record', recordingOf(home, id)])
}

async function showsWhatItSays(home: Hm, id: string): Promise<string> {
  await home.run(['send', id, 'go', '--enter'])
  return await until('the words to be recorded', () => {
    // The first line has the command.
    const text = readFileSync(recordingOf(home, id), 'utf8').split('\n').slice(1).join('\n')
    return /say .* alou/.test(text) ? text : undefined
  })
}

test.each(['no process', 'one of the session'])(
  'another agent that claims to be %s has nothing covered',
  async (who) => {
    const home = hm()
    await recorded(home, 'quiet')
    const type = await agentSession(home, 'brisk-heron')
    const claimed = who === 'no process' ? '' : String(readHolder(home.dir, 'quiet')?.childPid)
    const answers = join(home.home, 'answers')
    await type(`${fixture('secret-teller').join(' ')} ${home.socket('quiet')} ${VALUE} ${claimed} >${answers}`)
    const answered = await until('an answer', () => {
      const text = readFileSync(answers, 'utf8')
      return text.includes('statusResp') ? text : undefined
    })
    expect(answered).toMatch(/"code":"SESSION_REFUSED","message":"only programs of session quiet /)
    expect(await showsWhatItSays(home, 'quiet')).toContain(VALUE)
    expect(await acts(home, 'quiet')).toMatchObject([
      { act: 'secrets refused', by: 'a client of the socket', what: '1 value' },
    ])
  },
)

test('another agent that says who it is has nothing covered, and is named', async () => {
  const home = hm()
  await recorded(home, 'quiet')
  const type = await agentSession(home, 'brisk-heron')
  await type(`exec ${fixture('secret-shim').join(' ')} ${home.socket('quiet')} ${VALUE}`)
  const refused = await until('the refusal', async () => ((await acts(home, 'quiet')) as unknown[])[0])
  expect(refused).toMatchObject({
    act: 'secrets refused',
    by: expect.stringMatching(/^a shim by brisk-heron \(session brisk-heron, process \d+\)$/) as string,
  })
  expect(await showsWhatItSays(home, 'quiet')).toContain(VALUE)
})

test('a program of the session is heard, and both the record and the recording say who asked', async () => {
  const home = hm()
  const [node, teller] = fixture('secret-shim')
  const script = `${node} ${teller} ${home.socket('own')} ${VALUE}; ${SHOWS[2]}`
  const { code } = await home.run(
    ['run', '--id', 'own', '--detach', '--record', recordingOf(home, 'own'), '--', 'sh', '-c', script],
    {
      env: { HEIMDALL_AGENT_ID: 'amber-otter' },
    },
  )
  expect(code).toBe(0)
  const [told] = await until('it to be told', async () => {
    const found = (await acts(home, 'own')) as readonly { readonly by: string }[]
    return found.length > 0 ? found : undefined
  })
  expect(told).toMatchObject({ act: 'secrets', what: '1 value' })
  expect(told?.by).toMatch(/^a shim by amber-otter \(session own, process \d+\)$/)
  const cast = await showsWhatItSays(home, 'own')
  expect(cast).not.toContain(VALUE)
  const marks = cast.split('\n').filter((line) => /^\[[\d.]+,"m",/.test(line))
  expect(marks).toEqual([expect.stringContaining('1 value is covered from here on: a shim by amber-otter')])
  await home.run(['kill', 'own', '--wait'])
  expect(readExitRecord(home.dir, 'own')?.acts).toMatchObject([{ act: 'secrets' }, { act: 'kill' }])
})

test('kill and rename name the agent that did it, or the person', async () => {
  const home = hm()
  for (const id of ['first', 'second', 'third']) await home.session(id, ['cat'])
  const type = await agentSession(home, 'brisk-heron')
  await type('hm rename first renamed')
  await until('the new id', async () => (await home.run(['status', 'renamed'])).code === 0)
  expect(await acts(home, 'renamed')).toMatchObject([
    {
      act: 'rename',
      what: 'first is now renamed',
      by: expect.stringMatching(/^hm rename by brisk-heron \(session brisk-heron, process \d+\)$/) as string,
    },
  ])
  // Whatever it says of itself.
  await type('BB_AGENT=somebody HEIMDALL_AGENT_ID=else hm kill second')
  await until('the end', () => readExitRecord(home.dir, 'second') !== undefined)
  expect(readExitRecord(home.dir, 'second')?.ended_by).toMatch(
    /^hm kill by brisk-heron \(session brisk-heron, process \d+\)$/,
  )
  await home.run(['kill', 'third', '--wait'])
  expect(readExitRecord(home.dir, 'third')?.ended_by).toMatch(new RegExp(`^hm kill by ${USER} \\(process \\d+\\)$`))
})

test('in the record of a run: who typed the answer, who ended it', async () => {
  const at = spine()
  const { run_id: run } = await at.detached('amber-otter', ['sh', '-c', 'printf "Proceed? [y/N] "; read x; cat'])
  await until('the question', () => at.sheets().some(({ wait }) => wait !== null))
  const person = atTerminal({ env: { ...at.env, TERM: 'xterm' }, home: at.home }, ['attach', 'amber-otter'])
  await person.see('Proceed?')
  person.type('y\r')
  const end = await until('the end of the wait', () => at.events(String(run)).find(({ type }) => type === 'wait_end'))
  expect(end['wait']).toMatchObject({ answered_by: USER })
  await at.run('hm', ['kill', 'amber-otter', '--wait'])
  const over = await until('the end', () => at.events(String(run)).find(({ type }) => type === 'session_end'))
  expect(over['session']).toMatchObject({
    ended_by: expect.stringMatching(new RegExp(`^hm kill by ${USER} \\(process \\d+\\)$`)) as string,
    acts: [{ act: 'kill' }],
  })
})
