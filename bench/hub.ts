// The hub with a page on it: how soon something is seen, what it costs while nothing happens, how a long list scrolls, and a hook that it answers.
import { execFile, spawn, spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { bundlePrograms } from '../scripts/programs.mjs'
import { openConnection } from '../src/client/connection.ts'
import { systemClock } from '../src/clock.ts'
import { openCoordination } from '../src/coordination/coordination.ts'
import { register } from '../src/coordination/who/registration.ts'
import { findProject } from '../src/paths.ts'
import { sessionPaths } from '../src/wire/session-paths.ts'
import { startBrowser } from '../test/support/browser.ts'
import { runBench, type Side } from './support/bench.ts'
import { startEcho, startHookCaller } from './support/hook-caller.ts'
import {
  type BenchHub,
  type BenchPage,
  type BenchProject,
  benchProject,
  go,
  removeBench,
  startBenchHub,
  visitBench,
} from './support/page.ts'
import { processorNsWithin } from './support/processor-time.ts'
import { writeRuns } from './support/records.ts'

const WRITERS = 50
/** So many waits make one sample of the 95th percentile. */
const WAITS = 20
/** What is not shown by then is not slow but lost. */
const SHOWN_MS = 20_000
const AGENTS = 100
const EVENTS = 100_000
/**
 * Two turns of the timer of Node's own servers, which is all that wakes either of the two: of a window that is no multiple
 * of it, it is chance whether one turn more falls into it.
 */
const IDLE_MS = 60_000
const HOOKS = 200
const HEIMDALL = resolve('bin/heimdall')

interface House {
  readonly project: BenchProject
  readonly hub: BenchHub
}

interface Site extends House, BenchPage {}

const opened: (() => unknown)[] = []

async function house(fill: (project: BenchProject) => unknown): Promise<House> {
  const project = benchProject(10)
  opened.push(() => removeBench(project))
  await fill(project)
  const hub = await startBenchHub(project)
  opened.push(() => hub.stop())
  return { project, hub }
}

/** Made when a comparison that needs it is run. */
function lazy<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

const hubFileOf = ({ state }: BenchProject): { readonly pid: number; readonly port: number; readonly secret: string } =>
  JSON.parse(readFileSync(join(state, 'hub.json'), 'utf8')) as { pid: number; port: number; secret: string }

/** One that is asked about, and writers that write while the file is there; a few at a time. */
async function startSessions(project: BenchProject, writers: number): Promise<void> {
  const { root: cwd, env, folder } = project
  const names = Array.from({ length: writers }, (_, n) => `writer-${n}`)
  // Also when one of them did not start: the others must not outlive the bench.
  opened.push(() => spawnSync(process.execPath, [resolve('bin/hm'), 'kill', '--wait', 'asker', ...names], { cwd, env }))
  const run = async (agent: string, script: string): Promise<void> => {
    const args = ['run', '--agent', agent, '--detach', '--no-record', '--', 'sh', '-c', script]
    await promisify(execFile)(process.execPath, [HEIMDALL, ...args], { cwd, env })
  }
  const writing = join(folder, 'writing')
  const left = [...names]
  const startNext = async (): Promise<void> => {
    for (let agent = left.shift(); agent !== undefined; agent = left.shift())
      await run(agent, `i=0; while sleep 1; do i=$((i+1)); [ -e '${writing}' ] && echo "line $i"; done`)
  }
  const starts = await Promise.allSettled(Array.from({ length: 4 }, startNext))
  for (const start of starts) if (start.status === 'rejected') throw start.reason
  await run('asker', 'sleep 100000')
}

/** From what an agent reports to the frame in which the page shows it, in ms: the 95th percentile of `WAITS`. */
async function eventToPixels({ project, page }: Site): Promise<number> {
  const writing = join(project.folder, 'writing')
  const socket = sessionPaths(join(project.env['HOME'] ?? '', '.local/share/heimdall/sessions'), 'asker').socket
  const session = await openConnection(socket)
  writeFileSync(writing, '')
  const took: number[] = []
  for (let n = 0; n < WAITS; n += 1) {
    const question = `May it go on with ${Math.random().toString(36).slice(2)}?`
    // `void`, since `evaluate` waits for a promise that it is given, and this one is kept by the report below.
    await page.evaluate(`void (window.shown = window.whenShown(${JSON.stringify(question)}))`)
    const before = Date.now()
    await session.report({ source: 'hook', needs_input: true, evidence: question })
    took.push((await page.evaluate<number>('window.shown')) - before)
    await session.report({ source: 'hook', needs_input: false })
    await page.evaluate(`window.whenShown('Nobody waits for you')`)
  }
  rmSync(writing)
  session.close()
  return took.toSorted((a, b) => a - b)[Math.ceil(WAITS * 0.95) - 1] ?? Number.NaN
}

/** Resolves with the time of the frame after the one in which the text is on the page; fails when it does not come. */
const WHEN_SHOWN = `
  window.whenShown = (text) => new Promise((done, fail) => {
    const late = () => {
      watching.disconnect()
      fail(new Error('not on the page within ${SHOWN_MS} ms: ' + text + '; there is: ' + document.body.innerText))
    }
    const timer = setTimeout(late, ${SHOWN_MS})
    const look = () => {
      if (!document.body.textContent.includes(text)) return
      watching.disconnect()
      clearTimeout(timer)
      requestAnimationFrame(() => requestAnimationFrame(() => done(Date.now())))
    }
    const watching = new MutationObserver(look)
    watching.observe(document.body, { subtree: true, childList: true, characterData: true })
    look()
  })`

async function enter(browser: Browser, { project, hub }: House): Promise<Site> {
  const visit = await visitBench(browser, hub.link)
  await visit.page.evaluate(WHEN_SHOWN)
  return { ...visit, project, hub }
}

async function registerAgents({ root, env }: BenchProject): Promise<void> {
  const room = openCoordination({ project: findProject(root, env), env, clock: systemClock, staleMinutes: 15 })
  for (let n = 0; n < AGENTS; n += 1) await register(room, { name: `agent-${n}`, role: 'bench' })
  room.store.close()
}

/** Agents from the first to the last, then calls as far as a long pull at the wheel goes. */
async function scrolled(page: Page): Promise<void> {
  await go(page, '#/fleet')
  await page.waitForSelector('h1:has-text("Fleet")')
  await page.mouse.move(720, 500)
  for (let step = 0; step < 15; step += 1) await wheel(page, 400)
  await go(page, '#/decisions')
  await page.waitForSelector('h1:has-text("Decisions")')
  for (let step = 0; step < 60; step += 1) await wheel(page, 1_500)
  await go(page, '#/needs-you')
}

async function wheel(page: Page, px: number): Promise<void> {
  await page.mouse.wheel(0, px)
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
}

const idle = (name: string, pidOf: () => Promise<number>): Side => ({
  name,
  measure: async () => (await processorNsWithin(await pidOf(), IDLE_MS)) / 1e6,
})

await runBench({
  name: 'hub',
  about: `the hub and its page; ${WRITERS} sessions that write against one, ${AGENTS} agents and ${EVENTS} events against none`,
  async prepare() {
    await bundlePrograms('test/fixtures', '.build/fixtures')
    const browser = await startBrowser()
    const site = (fill: (project: BenchProject) => unknown) => lazy(async () => enter(browser, await house(fill)))
    const many = site((project) => startSessions(project, WRITERS))
    const one = site((project) => startSessions(project, 1))
    const empty = site(() => undefined)
    const long = site(async (project) => {
      await registerAgents(project)
      writeRuns(project.state, { runs: 10, callsOfRun: Math.ceil(EVENTS / 30), repoPath: project.root })
    })
    const unwatched = lazy(() => house(registerAgents))
    const bare = lazy(async () => {
      const child = spawn(process.execPath, ['-e', "require('node:http').createServer().listen(0, '127.0.0.1')"])
      opened.push(() => child.kill())
      return child.pid ?? 0
    })
    const pixels = (name: string, of: () => Promise<Site>): Side => ({
      name,
      measure: async () => eventToPixels(await of()),
    })
    const scrolls = (name: string, of: () => Promise<Site>): Side => ({
      name,
      measure: async () => (await of()).longestTask(scrolled),
    })
    const hooks = lazy(async () => {
      const { project } = await house(() => undefined)
      const caller = startHookCaller(project.root, project.env)
      const echo = await startEcho()
      opened.push(
        () => caller.end(),
        () => echo.process.kill(),
      )
      const { port, secret } = hubFileOf(project)
      const body = (event: string): string =>
        JSON.stringify({
          session_id: 'bench',
          cwd: project.root,
          hook_event_name: event,
          tool_name: 'Edit',
          tool_input: { file_path: join(project.root, 'own.ts'), old_string: 'a', new_string: 'b' },
          tool_use_id: 'use',
        })
      const hook = { port, path: '/hook/claude', headers: { authorization: `Bearer ${secret}` } }
      await caller.tookMs({ ...hook, body: body('SessionStart') }, 1, 'You are')
      const edit = body('PreToolUse')
      // From here on it is the agent's own.
      await caller.tookMs({ ...hook, body: edit }, 1, '200 {}')
      return {
        hub: () => caller.tookMs({ ...hook, body: edit }, HOOKS, '200 {}'),
        echo: () => caller.tookMs({ port: echo.port, path: '/', headers: {}, body: edit }, HOOKS, edit),
      }
    })
    return {
      comparisons: [
        {
          what: `event to pixels, 95th percentile of ${WAITS}, while ${WRITERS} sessions write a line a second against one`,
          unit: 'ms',
          // Each takes a quarter of a minute: the hub tells its pages a few times a second, and every wait comes and goes.
          rounds: 3,
          ours: pixels(`${WRITERS} sessions`, many),
          peers: [{ ...pixels('one session', one), goal: { atMost: 2 } }],
        },
        {
          what: `longest task while ${AGENTS} agents and ${EVENTS} events scroll against an empty list`,
          unit: 'ms',
          rounds: 5,
          ours: scrolls(`${AGENTS} agents, ${EVENTS} events`, long),
          peers: [{ ...scrolls('empty lists', empty), goal: { atMost: 3 } }],
        },
        {
          what: `processor time while nothing happens, in ${IDLE_MS / 1_000} s, against an idle server in Node`,
          unit: 'ms',
          rounds: 2,
          ours: idle('the hub, nobody looking', async () => hubFileOf((await unwatched()).project).pid),
          peers: [{ ...idle('http.createServer', bare), goal: { atMost: 2 } }],
        },
        {
          what: 'a hook answered by the hub against a bare HTTP echo in Node',
          unit: 'ms',
          rounds: 5,
          ours: { name: '/hook/claude', measure: async () => (await hooks()).hub() },
          peers: [{ name: 'echo', measure: async () => (await hooks()).echo(), goal: { atMost: 3 } }],
        },
      ],
      async cleanup() {
        await browser.close()
        for (const close of opened.toReversed()) close()
      },
    }
  },
})
