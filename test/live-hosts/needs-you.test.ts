// From the moment that a real host has its question on the screen until `heimdall status` says that it needs you, and from the answer until it does not: in a session of ours, and in a terminal that is none.
import { performance } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { connect } from '../../src/client/index.ts'
import { spine, type Spine } from '../spine/spine.ts'
import { ASKS, inPane } from '../support/hosts/in-pane.ts'
import { inTerminal } from '../support/hosts/in-terminal.ts'
import { installedHosts } from '../support/hosts/installed.ts'
import { type ModelServer, modelServer } from '../support/hosts/model-server.ts'
import { prepareHost } from '../support/hosts/prepared.ts'
import { act, type Asked, dialogue, type HostName, say } from '../support/hosts/script.ts'
import { launcher, type Program, startProgram } from '../support/programs.ts'
import { isSoak } from '../support/scale.ts'
import { type Json, ofType } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

/** As the issue states it. Only a machine that does nothing else can be held to it. */
const WITHIN_MS = 1_000

/** Titles, for which Codex asks beside the talk, are none. */
const hasAnswer = ({ turns, wantsJson }: Asked): boolean => {
  const start = turns.findLastIndex(({ from, text }) => from === 'user' && text.includes('make a note'))
  return !wantsJson && start !== -1 && turns.slice(start).some(({ from }) => from === 'tool')
}

/** What the tool gave is answered only when the test says so: until then the host is past the question and not past the turn. */
async function heldModel(): Promise<{ model: ModelServer; goOn: () => void }> {
  let goOn = (): void => undefined
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const script = dialogue('make a note', [act({ shell: 'touch asked.txt', asks: true }), say('the note is made')])
  return { model: await modelServer(script, (asked) => (hasAnswer(asked) ? held : undefined)), goOn }
}

/** What the model was told by the tool that waits for leave. */
const answered = (model: ModelServer): object[] =>
  model.exchanges.filter(({ asked }) => hasAnswer(asked)).map(({ asked }) => asked.turns)

/** Each picture of the fleet as it changes. */
const follow = (project: Spine): Program =>
  startProgram([...launcher('heimdall'), 'status', '--follow', '--json'], { cwd: project.root, env: project.env })

async function picture(following: Program, isIt: (waits: Json[]) => boolean): Promise<{ waits: Json[]; atMs: number }> {
  for (;;) {
    const { waits } = JSON.parse(await following.nextLine(/^\{/)) as { waits: Json[] }
    if (isIt(waits)) return { waits, atMs: performance.now() }
  }
}

function tell(name: HostName, where: string, shownMs: number, saidMs: number): void {
  const ms = Math.round(saidMs - shownMs)
  console.log(`${name} ${where}: said ${Math.abs(ms)} ms ${ms < 0 ? 'before' : 'after'} the question was on the screen`)
  if (isSoak) expect(ms).toBeLessThanOrEqual(WITHIN_MS)
}

test.each(installedHosts())(
  '%s in a session: it needs you while it asks, and no longer when you answered',
  async (name) => {
    const project = spine()
    const { model, goOn } = await heldModel()
    const terminal = await inTerminal(project, prepareHost(name, { project, model }), 'amber-otter')
    await terminal.ready()
    const session = await connect({ id: terminal.session, socketDir: `${project.home}/.local/share/heimdall/sessions` })
    const shown = (async () => {
      let text = ''
      for await (const event of session.subscribe()) {
        if (event.type !== 'output') continue
        text += event.bytes.toString('utf8')
        // Between words a host may move the cursor in place of a space.
        if (squeezed(text).includes(squeezed(ASKS[name]))) return performance.now()
      }
      throw new Error(`the session ended before it asked: ${squeezed(text)}`)
    })()
    const said = until('the wait on the sheet of the run', () =>
      project.sheets().some(({ wait }) => wait !== null) ? performance.now() : undefined,
    )
    await terminal.prompt('make a note')
    tell(name, 'in a session', await shown, await said)
    session.close()
    const { waits } = await project.json(['status'])
    expect(waits).toMatchObject([{ agent_id: 'amber-otter', session_id: 'amber-otter', run_id: terminal.runId }])
    expect(answered(model)).toEqual([])
    await terminal.press('enter')
    await until(
      'nobody to be waited for',
      async () => ((await project.json(['status']))['waits'] as Json[]).length === 0,
    )
    goOn()
    await terminal.see('the note is made')
    const booked = (type: 'wait_start' | 'wait_end'): number => ofType(project.events(terminal.runId), type).length
    await until('its end to be booked', () => booked('wait_end') > 0 && booked('wait_end') === booked('wait_start'))
    await terminal.end()
  },
)

test.each(installedHosts())(
  '%s by its own name: its hooks say that it needs you, and that it was answered',
  async (name) => {
    const project = spine()
    const { model, goOn } = await heldModel()
    const host = prepareHost(name, { project, model })
    expect((await project.run('heimdall', ['init', name, '--yes'])).code).toBe(0)
    expect(await hooksIn(project, name)).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('were never called') as string,
    })
    const pane = await inPane(host, { trusts: name === 'codex' })
    const following = follow(project)
    await picture(following, (waits) => waits.length === 0)
    await pane.prompt('make a note')
    const shown = pane.see(ASKS[name]).then(() => performance.now())
    const said = picture(following, (waits) => waits.length > 0)
    tell(name, 'by its own name', await shown, (await said).atMs)
    expect((await said).waits).toMatchObject([{ kind: 'permission', evidence: { source: 'hook' }, session_id: null }])
    expect(answered(model)).toEqual([])
    await pane.enter()
    await picture(following, (waits) => waits.length === 0)
    expect(await hooksIn(project, name)).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('last called') as string,
    })
    goOn()
    await pane.see('the note is made')
    expect(project.read('asked.txt')).toBe('')
    const [run = ''] = project.runs()
    expect(project.runs()).toHaveLength(1)
    expect(ofType(project.events(run), 'wait_end')).toMatchObject([{ wait: { source: 'hook', answer: 'allowed' } }])
  },
)

async function hooksIn(project: Spine, name: HostName): Promise<Json | undefined> {
  const { checks } = (await project.json(['doctor'])) as { checks: Json[] }
  return checks.find(({ check }) => check === `${name} hooks`)
}

/** Text without what moves and colours it, and without spaces, in place of which a host may move the cursor. */
const squeezed = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex
    .replace(/\u001b(?:\[[0-9;?>=<]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g, '')
    .replace(/\s+/g, '')
