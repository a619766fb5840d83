// What a run has cost: followed while it goes on, whatever becomes of the transcript or the watcher, and the same afterwards. Transcripts are recordings of the real host.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { recording } from '../support/hosts/recordings.ts'
import { type Json, ofType } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'
import { type Spine, spine } from './spine.ts'

/** What the recorded session says, with its subagent. */
const SAID = { input: 918, cached: 9_031, cache_write: 10, cache_write_1h: 0, output: 166, reasoning: 14 }
/** And what the host itself says that this cost. */
const USD = 0.0088482

/** A recording that is said from now on. */
function sayLater(project: Spine, name: string, change: (text: string) => string = (text) => text): string {
  const later = new Date(Date.now() + 3_600_000).toISOString()
  return project.write(
    `../said/${name}`,
    change(recording('claude', name).replaceAll(/"timestamp":"[^"]*"/g, `"timestamp":"${later}"`)).replaceAll(
      '/work/project',
      project.root,
    ),
  )
}

const placeOf = (project: Spine): string =>
  join(project.home, '.claude/projects', project.root.replace(/[^A-Za-z0-9]/g, '-'))

const watcherLog = (project: Spine, run: string): string =>
  readFileSync(join(project.home, '.local/state/heimdall/runs', run, 'watcher.log'), 'utf8')

const costOnSheet = (project: Spine): Json | undefined => project.sheets()[0]?.['cost'] as Json | undefined

test('a transcript that is cut in a line, moved and written anew, under a watcher that is killed, is booked once', async () => {
  const project = spine()
  const said = sayLater(project, 'session.jsonl')
  const subagent = sayLater(project, 'subagent.jsonl')
  const place = placeOf(project)
  const half = Math.floor(readFileSync(said).length / 2)
  const session = '11111111-2222-3333-4444-555555555555'
  const step = (name: string): string => `until [ -e '${project.path('..', name)}' ]; do sleep 0.05; done`
  const script = [
    `mkdir -p '${place}/${session}/subagents'; cd '${place}'`,
    `head -c ${half} '${said}' > ${session}.jsonl`,
    step('more'),
    `tail -c +${half + 1} '${said}' >> ${session}.jsonl; cp '${subagent}' ${session}/subagents/agent-1.jsonl`,
    step('anew'),
    `cp ${session}.jsonl whole; mv whole ${session}.jsonl`,
    step('end'),
  ].join('\n')
  const { run_id: id } = await project.detached('amber-otter', ['sh', '-c', script])
  const run = String(id)
  await until('the first half to be booked', () => costOnSheet(project)?.['messages'])
  process.kill(await project.watcher(), 'SIGKILL')
  project.write('../more', '')
  await until('all of it to be booked', () => {
    const { tokens } = (costOnSheet(project) ?? {}) as { tokens?: Json }
    return tokens?.['input'] === SAID.input
  })
  project.write('../anew', '')
  project.write('../end', '')
  await until('the run to be closed', () => project.sheets().length === 0)

  const { run: facts } = (await project.json(['runs', 'show', run])) as { run: Json }
  expect(facts['cost']).toMatchObject({ messages: 6, tokens: SAID, usd: USD, unpriced: [], unread: 0 })
  const booked = ofType(project.events(run), 'model_usage').map((event) => event['usage'] as Json)
  expect(new Set(booked.map((usage) => usage['message_id'])).size).toBe(booked.length)
  expect(booked.filter((usage) => usage['is_subagent'] === true)).toHaveLength(2)
  expect(booked[0]).toMatchObject({
    source: 'runtime',
    host: 'claude',
    host_version: '2.1.325',
    host_session: session,
    model: 'claude-opus-5-5',
  })
  const { stdout } = await project.run('heimdall', ['runs', 'show', run])
  expect(stdout).toMatch(/^cost +\$0\.0088 at prices of \d{4}-\d\d-\d\d; 6 messages; input 918 \+ 9031 cached/m)
})

test('where the host writes is said by the run itself, and not by the run that has started the watcher', async () => {
  const project = spine()
  const env = { CLAUDE_CONFIG_DIR: join(project.home, 'elsewhere') }
  const first = await project.detached('brave-heron', ['sh', '-c', 'read line'], [], { env })
  await project.watched(String(first['run_id']))
  const watcher = await project.watcher()
  await project.run('hm', ['send', 'brave-heron', 'go', '--enter'])
  await until('the first to be closed', () => project.sheets().length === 0)

  const said = sayLater(project, 'session.jsonl')
  const write = `mkdir -p '${placeOf(project)}'; cp '${said}' '${placeOf(project)}/s.jsonl'`
  expect((await project.run('heimdall', ['run', '--', 'sh', '-c', write])).code).toBe(0)
  const run = project.runs().find((one) => one !== first['run_id']) ?? ''
  expect(ofType(project.events(run), 'model_usage')).not.toEqual([])
  expect(await project.watcher()).toBe(watcher)
})

test('another form is said and in no sum; two runs in one folder are not mixed up', async () => {
  const project = spine()
  const place = placeOf(project)
  // A version that tells the same in other words, and one message as it was.
  const strange = sayLater(project, 'subagent.jsonl', (text) =>
    text.replace('"input_tokens"', '"tokens_in"').replace('2.1.325', '9.0.0'),
  )
  const write = `mkdir -p '${place}'; cp '${strange}' '${place}/s.jsonl'`
  const alone = await project.run('heimdall', ['run', '--agent', 'amber-otter', '--', 'sh', '-c', write])
  expect(alone.code).toBe(0)
  const [run = ''] = project.runs()
  const { run: facts } = (await project.json(['runs', 'show', run])) as { run: Json }
  expect(facts['cost']).toMatchObject({ messages: 1, unread: 1 })
  expect(watcherLog(project, run)).toMatch(/costs: 1 lines that claude \S+ wrote were not understood and are in no sum/)

  const wait = `until [ -e '${project.path('../end')}' ]; do sleep 0.05; done`
  await project.detached('brave-heron', ['sh', '-c', wait])
  const said = sayLater(project, 'session.jsonl')
  const copy = `cp '${said}' '${place}/t.jsonl'`
  const two = await project.run('heimdall', ['run', '--agent', 'amber-otter', '--', 'sh', '-c', copy])
  expect(two.code).toBe(0)
  const unclear =
    project.runs().find((one) => one !== run && !project.sheets().some(({ folder }) => folder === one)) ?? ''
  expect(ofType(project.events(unclear), 'model_usage')).toEqual([])
  expect(watcherLog(project, unclear)).toContain('may be this run’s or another’s in the same folder')
  project.write('../end', '')
})
