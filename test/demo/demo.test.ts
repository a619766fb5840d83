// The demo from end to end: a fleet uses everything, and at its end the runs' records, coordination, the token ledger, the hub and the page say the same.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Summary } from '../../src/demo/summary.ts'
import { DEMO_MS_MAX } from '../../src/limits.ts'
import { spine } from '../spine/spine.ts'
import { keepIdentity, profile } from '../page/look.ts'
import { openBrowser } from '../support/hub.ts'
import { ownTerminal } from '../support/own-terminal.ts'
import { isSoak } from '../support/scale.ts'
import { launcher, startProgram } from '../support/programs.ts'
import { checkBooks, type Json, ofType, parseLines } from '../support/shim-client.ts'
import { until } from '../support/wait.ts'

const AGENTS = ['amber-otter', 'cobalt-fox', 'plum-vole', 'rusty-wren', 'teal-badger']

/** What the demo prints at its end, as the object that `--json` prints. */
function printed(
  text: string,
): Pick<Summary, 'runs' | 'tokens' | 'dispatch'> & { root: string; url: string; link: string } {
  const found = (pattern: RegExp): string[] => pattern.exec(text)?.slice(1) ?? []
  const [url = '', key = ''] = found(/Dashboard: (http:\/\/[\d.:]+)(\/?#key=[\w-]+)/)
  const rows = [...text.matchAll(/^(\S+) +([A-Z]+) +(\d+) +(\d+) +(\S+) *$/gm)]
  const [byReference, verbatim, saved] = found(/Briefs: (\d+) tokens by reference, (\d+) verbatim \((\d+) % less/).map(
    Number,
  )
  const [task = '', first = '', second = ''] = found(/^Task (\S+): (.*), then (.*)$/m)
  const attempts = [first, second].map((tried) => {
    const [, worker = '', state = '', reason = null] = /^(\S+) (\S+)(?: \((.*)\))?$/.exec(tried) ?? []
    return { worker, state, reason }
  })
  return {
    root: found(/The agents work in (\S+)/)[0] ?? '',
    url,
    link: url + key,
    runs: rows.map(([, agent = '', status = '', calls, refused, run = '']) => ({
      run_id: run,
      agent,
      status,
      calls: Number(calls),
      refused: Number(refused),
    })),
    tokens: { by_reference: byReference ?? NaN, verbatim: verbatim ?? NaN, saved_percent: saved ?? NaN },
    dispatch: { task, state: attempts.at(-1)?.state ?? '', attempts },
  }
}

test(
  'at the end of the demo every record says the same, what it prints works, and no process is left',
  async () => {
    const project = spine()
    // At a user's terminal: only there the hub prints its link.
    const terminal = ownTerminal([...launcher('heimdall'), 'demo', '--fast', '--stay'], {
      cwd: project.root,
      env: { ...project.env, NO_COLOR: '1' },
    })
    const shown = (): string => terminal.written().replaceAll('\r', '')
    await until('the end of the play', () => /The dashboard stays at .*\n/.test(shown()), {
      context: shown,
      waitMs: DEMO_MS_MAX,
    })
    const { root, runs, tokens, dispatch, url, link } = printed(shown())

    // The runs' own records: each is closed once, and its numbers are those of its events.
    expect(runs.map(({ agent }) => agent.replace(/^south-.*-[0-9a-f]{6}$/, 'south')).toSorted()).toEqual(
      [...AGENTS, 'south'].toSorted(),
    )
    const refused: string[] = []
    for (const run of runs) {
      const recorded = project.events(run.run_id)
      expect(checkBooks(recorded)).toEqual([])
      const decisions = ofType(recorded, 'tool_call_decision').map(({ decision }) => decision as Json)
      const denied = decisions.filter(({ action }) => action !== 'ALLOW')
      refused.push(...denied.map(({ rule_id }) => String(rule_id)))
      expect(run).toMatchObject({ status: 'SUCCEEDED', calls: decisions.length, refused: denied.length })
    }
    expect(refused.toSorted()).toEqual(['few-checks', 'migrations-are-frozen'])
    // The hint was followed: the same tool, with what it suggested, was allowed next.
    const amber = project.events(runs.find(({ agent }) => agent === 'amber-otter')?.run_id ?? '')
    expect(ofType(amber, 'tool_call_decision').map(({ decision }) => decision['action'] as string)).toEqual([
      'REJECT_WITH_HINT',
      'ALLOW',
    ])
    const frozen = readFileSync(join(root, 'db/migrations/0006.sql'), 'utf8')
    expect(frozen).toMatch(/^create table days/)
    expect(existsSync(join(root, 'src/read/statement.ts'))).toBe(true)

    // Coordination, from its export: who ran into whom, who took over, who handed over to whom.
    const ledger = parseLines(readFileSync(join(root, '.planning/ledger/events.jsonl'), 'utf8'))
    const count = (type: string): number => ledger.filter((event) => event['event_type'] === type).length
    const history = await project.run('heimdall', ['claim', 'history', '--last', '1000', '--json'], { cwd: root })
    const listed = (JSON.parse(history.stdout) as { data: Json[] }).data
    for (const type of ['CLAIM', 'INCURSION', 'TAKEOVER', 'HANDOFF', 'ACK', 'RELEASE', 'TASK_END'])
      expect([type, listed.filter(({ event_type }) => event_type === type).length]).toEqual([type, count(type)])
    const of = (type: string): Json => ledger.find((event) => event['event_type'] === type) ?? {}
    expect(of('TAKEOVER')).toMatchObject({ from_agent: 'cobalt-fox', payload: { takeover_mode: 'evicted' } })
    expect(of('HANDOFF')).toMatchObject({ from_agent: 'amber-otter', to_agent: 'teal-badger' })
    expect(of('ACK')).toMatchObject({ from_agent: 'teal-badger' })
    expect(
      ledger.filter(({ event_type }) => event_type === 'INCURSION').map((one) => one['from_agent'] as string),
    ).toEqual(expect.arrayContaining(['cobalt-fox', 'teal-badger']))

    // Tokens: the rows of the ledger, every one counted, and each brief under the run that read it.
    const rows = parseLines(readFileSync(join(root, '.planning/protocol/ledger.jsonl'), 'utf8'))
    expect(rows.every(({ source }) => source === 'measured')).toBe(true)
    const ofRole = (wanted: string): Json[] => rows.filter(({ role }) => role === wanted)
    expect(ofRole('orchestration').reduce((sum, row) => sum + Number(row['tokens']), 0)).toBe(tokens.by_reference)
    expect(ofRole('orchestrator').map(({ kind, msg_id }) => [kind, msg_id])).toEqual([
      ['delta_brief', 'T-9#1/brief'],
      ['delta_brief', 'T-9#2/brief'],
    ])
    const briefed = rows.filter(({ kind }) => kind === 'delta_brief').map(({ run_id }) => String(run_id))
    const readers = runs.filter(({ run_id }) => briefed.includes(run_id)).map(({ agent }) => agent)
    expect(readers.toSorted()).toEqual(['amber-otter', 'cobalt-fox', 'teal-badger'])
    expect(tokens.by_reference).toBeLessThan(tokens.verbatim)

    // Dispatch: blocked before anything was spent, then done by the other.
    expect(dispatch).toMatchObject({
      state: 'done',
      attempts: [
        { worker: 'north', state: 'blocked', reason: 'required MCP servers: tracker (failed)' },
        { worker: 'south', state: 'done' },
      ],
    })

    // And the hub, which has all of it from the same places.
    const browser = await openBrowser(Number(new URL(url).port), link)
    const { runs: inHub } = await browser.get<{ runs: Json[] }>('/api/runs')
    for (const { run_id, status, calls } of runs)
      expect(inHub.find((run) => run['run_id'] === run_id)).toMatchObject({ status, calls })
    expect(inHub).toHaveLength(runs.length)
    const { calls } = await browser.get<{ calls: Json[] }>('/api/decisions?limit=500')
    const notAllowed = calls.filter(({ decision }) => decision !== 'allowed').map(({ rule }) => String(rule))
    expect(notAllowed.toSorted()).toEqual(refused.toSorted())
    expect(calls).toHaveLength(runs.reduce((sum, run) => sum + run.calls, 0))
    const { claims, incursions } = await browser.get<{ claims: Json[]; incursions: Json[] }>('/api/claims')
    expect(claims).toEqual([])
    expect(incursions).toHaveLength(count('INCURSION'))
    const { briefs } = await browser.get<{ briefs: Json[] }>('/api/tokens')
    expect(briefs).toContainEqual(
      expect.objectContaining({
        role: 'orchestration',
        baseline: tokens.verbatim,
        measured: tokens.by_reference,
      }),
    )
    expect(new Set(briefs.map(({ role }) => role))).toEqual(new Set(rows.map(({ role }) => role)))
    const { tasks } = await browser.get<{ tasks: Json[] }>('/api/tasks')
    expect(tasks.find(({ task_id }) => task_id === dispatch.task)).toMatchObject({ state: 'done', worker: 'south' })
    const { agents, totals } = await browser.get<{ agents: Json[]; totals: Json }>('/api/fleet')
    const states = new Map(agents.map(({ agent_id, state }) => [agent_id as string, state as string]))
    for (const agent of AGENTS) expect([agent, states.get(agent)]).toEqual([agent, 'done'])
    expect(totals).toMatchObject({ waits: 0, collisions: 0 })

    // At last what a person sees: the page in Chromium, with the same agents, calls, task and tokens.
    const context = await profile()
    const page = await context.newPage()
    await keepIdentity(page, url, browser.identity)
    const whole = (count: number): string => count.toLocaleString('en-GB')
    await page.goto(`${url}/#/fleet`)
    for (const agent of AGENTS) await page.locator(`[data-agent="${agent}"][aria-label^="${agent}, Done"]`).waitFor()
    const sees = async (hash: string, label: string, ...texts: readonly (string | RegExp)[]): Promise<void> => {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
      for (const text of texts) await page.locator(`section[aria-label="${label}"]`).getByText(text).first().waitFor()
    }
    await sees('#/decisions', 'Calls', 'few-checks', 'migrations-are-frozen')
    await page
      .getByText(`${whole(calls.length)} calls`)
      .first()
      .waitFor()
    await page
      .getByText(`${whole(refused.length)} refused with a hint`)
      .first()
      .waitFor()
    await sees('#/tasks', 'Tasks', dispatch.task, 'south')
    await sees('#/tokens', 'Briefs', whole(tokens.verbatim), whole(tokens.by_reference))

    // As the first command on a machine it has made the state folder, for its user alone.
    const state = join(project.home, '.local/state/heimdall')
    for (const folder of [state, join(state, 'demo')]) expect(statSync(folder).mode & 0o777).toBe(0o700)
    const { checks } = (await project.json(['doctor'])) as { checks: Json[] }
    expect(checks.find(({ check }) => check === 'state folder')).toMatchObject({ state: 'ok' })
    // Of all notes it accepts the one that hands over, and the commands that it names work.
    expect(shown().match(/accepts the handoff/g)).toHaveLength(1)
    const [, ...words] = /^ {2}(hm) (export \S+) FILE /m.exec(shown())?.slice(1).join(' ').split(' ') ?? []
    const exported = await project.run('hm', [...words, project.path('a.cast')])
    expect(exported).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Wrote \d\d+ events .*from the recording/),
    })
    const log = await project.run('hm', ['logs', 'teal-badger'])
    expect(log.stdout.match(/accepted the handoff: rows\.ts is yours/g)).toHaveLength(1)

    terminal.type('\u0003')
    expect(await terminal.ended).toBe(0)
    await until('every process to end', () => project.processes().length === 0)
  },
  2 * DEMO_MS_MAX,
)

// One play costs as much as a hundred other tests: these are left to the soak.
test.runIf(isSoak)('without a hub and with --json it prints one envelope', async () => {
  const data = (await spine().json(['demo', '--fast', '--no-hub'])) as unknown as Summary & { url: null; link: null }
  expect(data).toMatchObject({ url: null, link: null, dispatch: { state: 'done' }, events: { TAKEOVER: 1, ACK: 1 } })
  expect(data.runs.map(({ status }) => status)).toEqual(data.runs.map(() => 'SUCCEEDED'))
})

test.runIf(isSoak)('stopped half-way it leaves no process, and what is not empty is left alone', async () => {
  const project = spine()
  writeFileSync(join(project.home, 'mine'), 'mine\n')
  const taken = await project.run('heimdall', ['demo', '--dir', project.home])
  expect([taken.code, taken.stderr]).toEqual([5, expect.stringContaining('is not empty')])
  const program = startProgram([...launcher('heimdall'), 'demo', '--fast', '--no-hub', '--dir', 'stage'], {
    cwd: project.root,
    env: project.env,
  })
  // What it says to type works in a checkout that nobody has installed.
  await program.waitForLine(/^In another terminal: cd \S+ && export PATH="\S+\/bin:\$PATH"$/)
  await program.waitForLine(/amber-otter {5}claims src\/read/)
  program.kill('SIGINT')
  const { code, stderr } = await program.ended
  expect([code, stderr]).toEqual([130, 'Stopping; this takes a few seconds\n'])
  await until('every process to end', () => project.processes().length === 0)
  expect(project.sheets()).toEqual([])
})

test.each([
  ['a second Ctrl-C', '\u0003\u0003', false],
  ['a closed terminal', '\u0003', true],
])('Ctrl-C and then %s end the agents at once and leave no process', async (_, keys, closes) => {
  const project = spine()
  const terminal = ownTerminal([...launcher('heimdall'), 'demo', '--no-hub', '--dir', 'stage'], {
    cwd: project.root,
    env: { ...project.env, NO_COLOR: '1' },
  })
  await terminal.see('claims src/read')
  terminal.type(keys)
  await terminal.see('Stopping')
  if (closes) terminal.close()
  const code = await terminal.ended
  if (!closes) expect(code).toBe(130)
  expect(terminal.written()).not.toContain('error:')
  await until('every process to end', () => project.processes().length === 0, { waitMs: 45_000 })
  expect(project.sheets()).toEqual([])
})
