// heimdall up, open and demo: the dashboard, a link to it, and a fleet to try it with.
import { existsSync, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { DemoHub } from '../../demo/demo.ts'
import type { Happening } from '../../demo/story.ts'
import type { Summary } from '../../demo/summary.ts'
import { EXIT, HeimdallError, isErrno } from '../../errors.ts'
import { hubLogPath, runningHub, startInBackground, stopHub } from '../../hub/background.ts'
import { linkFrom, showProject } from '../../hub/client.ts'
import { takeHubPlace } from '../../hub/door/hub-file.ts'
import { printable } from '../../ids.ts'
import { HUB_PORT } from '../../limits.ts'
import { type Env, stateDir } from '../../paths.ts'
import { refuseAgent, requirePerson, userName, whoActs } from '../../person.ts'
import { type Answer, command, type Command, type Context } from '../command.ts'
import { fleetOptions } from '../fleet-options.ts'
import { inlineText } from '../../cells/plain-text.ts'
import { renderTable } from '../render/style.ts'
import { socketDir } from '../session-flags.ts'
import { VERSION } from '../version.ts'
import { usageError } from '../usage-error.ts'

interface UpFlags {
  readonly port: number
  readonly 'read-only': boolean | undefined
  readonly 'allow-host': readonly string[]
  readonly 'socket-dir': string | undefined
}

export const commands: readonly Command[] = [
  command({
    names: ['heimdall up'],
    summary: 'Serve the dashboard in this terminal',
    about:
      'Listens on 127.0.0.1 only, shows the projects of the given folders (default: this one) and does what you do on ' +
      'the page. Ctrl-C stops the hub, not the agents. If a hub runs already, that one shows the folder as well. The link ' +
      'that it prints is valid once, for five minutes, and is printed to a human only; heimdall open prints another.',
    args: [{ name: 'folder', help: 'projects to show; default: this folder', optional: true, variadic: true }],
    flags: {
      port: { type: 'integer', value: 'PORT', default: HUB_PORT, most: 65_535, help: 'port; 0 takes a free one' },
      'read-only': { help: 'show everything, change nothing: no answers, no typing' },
      'allow-host': {
        value: 'NAME',
        multiple: true,
        help: 'host name of your own tunnel; the hub still listens on 127.0.0.1 only',
      },
      stop: { help: 'stop the hub that runs, in the background or in another terminal' },
      'socket-dir': socketDir,
    },
    examples: {
      'heimdall up': 'shows the agents of this project at http://127.0.0.1:7717',
      'heimdall up ~/src/shop ~/src/site': 'shows two projects',
      'heimdall up --read-only --port 0': 'changes nothing, and listens on a free port',
      'heimdall up --allow-host box.tail1234.ts.net': 'admits your phone through your own tunnel',
      'heimdall up --stop': 'stops the hub',
    },
    output:
      'url, port, pid, projects (folders), read_only, link (for one visit; null unless a human asks), added (if a hub ran already: names of projects that it shows now)',
    run: async (context, { args, flags }) => {
      if (flags.stop === true) return await stop(context)
      const folders = args.folder.length === 0 ? [context.cwd] : args.folder.map((name) => folderAt(context, name))
      const place = takeHubPlace(stateDir(context.env))
      if (place === undefined) return await joinOther(context, folders, flags)
      const projects = await Promise.all(folders.map((folder) => projectAt(context, flags, folder)))
      const { startHub } = await import('../../hub/hub.ts')
      const hub = await startHub({
        place,
        port: flags.port,
        allowedHosts: flags['allow-host'].map((name) => hostName(name)),
        isReadOnly: flags['read-only'] === true,
        projects,
        projectAt: (folder) => projectAt(context, flags, folder),
        pageDir: join(packageDir(), 'dist/dashboard'),
        person: userName(),
        env: context.env,
        clock: context.clock,
        version: VERSION,
        note: (line) => context.note(line),
      })
      // An agent may start the hub; the link is for a human.
      const acting = whoActs()
      const link = acting.person ? hub.link() : null
      const signalled = stopSignal()
      const roots = projects.map(({ project }) => project.root)
      const data = {
        url: hub.url,
        port: hub.port,
        pid: process.pid,
        projects: roots,
        read_only: flags['read-only'] === true,
        link,
        added: null,
      }
      context.stdout.write(context.json ? envelope(context, data) : `${link ?? hub.url}\n`)
      if (!context.json) context.note(`The hub listens at ${hub.url}; Ctrl-C stops the hub, not the agents`)
      if (!acting.person)
        context.note(`No link, because no human is acting: ${acting.reason}; run heimdall open in your own terminal`)
      await signalled
      await hub.close()
      return { data: null, text: '', streamed: true }
    },
  }),
  command({
    names: ['heimdall open'],
    summary: 'Print a link to the dashboard; start it if needed',
    about:
      'The link is valid once, for five minutes, and is printed to a human only. A browser that has used it stays ' +
      'signed in until it has been away for a week. A hub that is started here runs in the background; heimdall up ' +
      '--stop stops it.',
    examples: { 'heimdall open': 'prints the link' },
    output: 'link, url, pid, started (whether this command has started the hub), log (of a hub in the background)',
    run: async (context) => {
      const { env, clock } = context
      requirePerson(context.calledAs)
      const running = runningHub(env)
      if (running === undefined) context.note('Starting the hub …')
      const hub = running ?? (await startInBackground(join(packageDir(), 'bin/heimdall'), context.cwd, env, clock))
      const link = await linkFrom(stateDir(env))
      const log = hubLogPath(env)
      if (running === undefined)
        context.note(`The hub runs in the background (pid ${hub.pid}, log ${log}); heimdall up --stop stops it`)
      return { data: { link, url: hub.url, pid: hub.pid, started: running === undefined, log }, text: link }
    },
  }),
  command({
    names: ['heimdall demo'],
    summary: 'Watch six scripted agents work for a minute, without model or network',
    about:
      'Creates a scratch repository in which small programs work as agents do: briefs by reference, claims, a ' +
      'collision, a takeover, a handoff, a refused call that follows its hint, a spent budget, a question for you, and ' +
      'a task that is rerouted because a server is down. They use our own commands, and the dashboard shows it live. ' +
      'It ends by itself or with Ctrl-C, and leaves its records but no process.',
    flags: {
      dir: { value: 'DIR', help: 'where to create the repository; default: a new state folder' },
      'no-hub': { help: 'without the dashboard' },
      stay: { help: 'keep the dashboard running afterwards, until Ctrl-C' },
      fast: { help: 'without pauses' },
    },
    examples: {
      'heimdall demo': 'plays for a minute, and prints what happens',
      'heimdall demo --stay': 'the same, and the dashboard stays until Ctrl-C',
      'heimdall demo --fast --no-hub --json': 'prints what was recorded, for a program',
    },
    output:
      'root (of the repository), url and link of the dashboard (or null), runs (array of {run_id, agent, status, calls, refused}), events (of coordination, by type), tokens (of the briefs: verbatim, by_reference, saved_percent; measured), dispatch (of the task: state, attempts {worker, state, reason})',
    run: async (context, { flags }) => {
      const { env, clock, json, stdout, stderr } = context
      const { playDemo } = await import('../../demo/demo.ts')
      const home = packageDir()
      const stays = flags.stay === true && flags['no-hub'] !== true
      const startMs = clock.wallMs()
      const print = (text: string): void => void (json || stdout.write(`${text}\n`))
      const stopped = new AbortController()
      const onSignal = (): void => {
        if (!stopped.signal.aborted) context.note('Stopping; this takes a few seconds')
        stopped.abort()
      }
      // Until the end: a second Ctrl-C, or a closed terminal, must not leave agents behind.
      for (const signal of STOP_SIGNALS) process.on(signal, onSignal)
      for (const stream of [stdout, stderr]) stream.on('error', ignoreClosed)
      try {
        const how = await playDemo({
          dir: flags.dir === undefined ? undefined : context.resolve(flags.dir),
          env,
          clock,
          launcher: join(home, 'bin/heimdall'),
          program: join(home, 'dist/demo.cjs'),
          withHub: flags['no-hub'] !== true,
          pace: flags.fast === true ? 0 : 1,
          note: context.note,
          onReady: (root, hub) => print(demoStart(context, wayTo(root, home, env), root, hub)),
          onHappening: (happening) => print(demoLine(context, startMs, happening)),
          async onEnd(summary, hub, root) {
            const data = { root, url: hub?.url ?? null, link: hub?.link ?? null, ...summary }
            if (json) stdout.write(envelope(context, data))
            print(demoEnd(context, summary, wayTo(root, home, env)))
            if (!stays || hub === null) return
            print(`\nThe dashboard stays at ${hub.url} until Ctrl-C`)
            await aborted(stopped.signal)
          },
          signal: stopped.signal,
        })
        return { data: null, text: '', streamed: true, ...(how === 'stopped' ? { exit: EXIT.interrupted } : {}) }
      } finally {
        for (const signal of STOP_SIGNALS) process.off(signal, onSignal)
      }
    },
  }),
]

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const stopSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of STOP_SIGNALS) process.once(signal, () => resolve())
  })

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve())
  })

function ignoreClosed(error: Error): void {
  if (!isErrno(error, 'EIO', 'EPIPE')) throw error
}

const envelope = ({ calledAs }: Context, data: unknown): string =>
  `${JSON.stringify({ ok: true, command: calledAs, data, error: null })}\n`

/** Of the launcher that runs now. */
const packageDir = (): string => join(dirname(realpathSync(process.argv[1] ?? '.')), '..')

async function stop({ env, clock, calledAs }: Context): Promise<Answer> {
  refuseAgent(`${calledAs} --stop`)
  const { url, port, pid, projects, read_only } = await stopHub(env, clock)
  return {
    data: { url, port, pid, projects, read_only, link: null, added: null },
    text: `Stopped the hub at ${url} (pid ${pid})`,
  }
}

function folderAt(context: Context, name: string): string {
  const folder = context.resolve(name)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder
  throw new HeimdallError('PROJECT_NOT_FOUND', `no folder ${printable(name)}`, {
    hint: 'heimdall up takes project folders; without one it shows the folder that you are in',
  })
}

/** With the settings of that folder: two projects may have different session folders. */
const projectAt = (context: Context, flags: Pick<UpFlags, 'socket-dir'>, folder: string) =>
  fleetOptions(context.in(folder), flags, true)

/** Has the hub that runs show the folders. */
async function joinOther(context: Context, folders: readonly string[], flags: UpFlags): Promise<Answer> {
  const hub = runningHub(context.env)
  if (hub === undefined) throw new HeimdallError('HUB_RUNNING', 'a hub is starting or stopping', { hint: 'try again' })
  const unmet = [
    ...(flags['read-only'] === true && !hub.read_only ? ['--read-only'] : []),
    ...(flags['allow-host'].length > 0 ? ['--allow-host'] : []),
  ]
  // A project that should be read-only must not be shown by a hub that can change it.
  if (unmet.length > 0)
    throw new HeimdallError(
      'HUB_RUNNING',
      `the hub at ${hub.url} (pid ${hub.pid}) runs without ${unmet.join(' and ')}`,
      {
        hint: `heimdall up --stop stops it; or leave out ${unmet.join(' and ')}`,
      },
    )
  for (const folder of folders) await projectAt(context, flags, folder)
  const shown = []
  for (const folder of folders) shown.push(await showProject(stateDir(context.env), folder))
  const added = shown.filter(({ isNew }) => isNew).map(({ name }) => name)
  if (added.length === 0)
    throw new HeimdallError('HUB_RUNNING', `the hub at ${hub.url} (pid ${hub.pid}) shows this project already`, {
      hint: 'heimdall open prints a link to it; heimdall up --stop stops it',
    })
  const { url, port, pid, projects, read_only } = hub
  return {
    data: { url, port, pid, projects, read_only, link: null, added },
    text: `The hub at ${url} (pid ${pid}) now shows ${added.join(', ')}`,
  }
}

/** A host without a port. */
function hostName(name: string): string {
  const plain = name.toLowerCase()
  if (/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(plain)) return plain
  throw usageError(`--allow-host takes a host name, got ${JSON.stringify(name)}`)
}

/** In a checkout the commands may not be in PATH. */
function wayTo(root: string, home: string, env: Env): string {
  const isOnPath = (env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'heimdall')))
  return `cd ${root}${isOnPath ? '' : ` && export PATH="${join(home, 'bin')}:$PATH"`}`
}

const demoStart = ({ style: { color } }: Context, way: string, root: string, hub: DemoHub | null): string =>
  [
    `The agents work in ${root}`,
    ...(hub === null ? [] : [`Dashboard: ${color.bold(hub.link ?? hub.url)}`]),
    color.dim(`In another terminal: ${way}`),
    color.dim('then heimdall status, heimdall top. Ctrl-C ends the demo.'),
    '',
  ].join('\n')

const NAME_WIDTH = 14

function demoLine({ style: { color } }: Context, startMs: number, { atMs, who, type, text }: Happening): string {
  const seconds = (Math.max(0, atMs - startMs) / 1_000).toFixed(1).padStart(6)
  const words = inlineText(text)
  const isLoud = ['INCURSION', 'TAKEOVER', 'wait_start'].includes(type) || words.includes(' refused ')
  return `${color.dim(`${seconds}s`)}  ${inlineText(who).padEnd(NAME_WIDTH)}  ${isLoud ? color.yellow(words) : words}`
}

function demoEnd({ style }: Context, { runs, tokens, dispatch }: Summary, way: string): string {
  const rows = runs.map((run) => [run.agent, run.status, String(run.calls), String(run.refused), run.run_id])
  const tried = dispatch.attempts.map(
    ({ worker, state, reason }) => `${worker} ${state}${reason === null ? '' : ` (${reason})`}`,
  )
  return [
    '',
    renderTable(style, ['AGENT', 'RUN', 'CALLS', 'REFUSED', 'RUN ID'], rows),
    '',
    `Task ${dispatch.task}: ${tried.join(', then ')}`,
    `Briefs: ${tokens.by_reference} tokens by reference, ${tokens.verbatim} verbatim (${tokens.saved_percent} % less, measured)`,
    '',
    `To explore it:  ${way}`,
    '  heimdall claim history     who held what, and who collided',
    '  heimdall runs show RUN     one run',
    '  hm logs amber-otter        what its terminal showed',
    '  hm export amber-otter FILE its recording as asciicast, for asciinema',
    '  heimdall events            every call, with its decision',
    '  heimdall up                the dashboard',
  ].join('\n')
}
