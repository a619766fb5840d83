// heimdall demo: a small fleet at work, told line by line.
import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { type DemoHub, playDemo } from '../../demo/demo.ts'
import type { Happening } from '../../demo/story.ts'
import type { Summary } from '../../demo/summary.ts'
import type { Env } from '../../paths.ts'
import type { Context, Run } from '../command.ts'
import { inlineText } from '../render/plain-text.ts'
import { renderTable } from '../render/style.ts'
import type { demo } from '../table/hub.ts'
import { untilSignal } from '../until-signal.ts'

export const run: Run<typeof demo> = async (context, { flags }) => {
  const { env, clock, json, stdout } = context
  const home = join(dirname(realpathSync(process.argv[1] ?? '.')), '..')
  const stays = flags.stay === true && flags['no-hub'] !== true
  const stopped = new AbortController()
  const { told, over } = untilSignal()
  void told.then(() => stopped.abort())
  const startMs = clock.wallMs()
  const print = (text: string): void => {
    if (!json) stdout.write(`${text}\n`)
  }
  try {
    await playDemo({
      dir: flags.dir === undefined ? undefined : context.resolve(flags.dir),
      env,
      clock,
      launcher: join(home, 'bin/heimdall'),
      program: join(home, 'dist/demo.cjs'),
      withHub: flags['no-hub'] !== true,
      pace: flags.fast === true ? 0 : 1,
      note: context.note,
      onReady: (root, hub) => print(opening(context, wayTo(root, home, env), root, hub)),
      onHappening: (happening) => print(lineOf(context, startMs, happening)),
      async onEnd(summary, hub, root) {
        const data = { root, url: hub?.url ?? null, link: hub?.link ?? null, ...summary }
        if (json) stdout.write(`${JSON.stringify({ ok: true, command: context.calledAs, data, error: null })}\n`)
        print(ending(context, summary, wayTo(root, home, env)))
        if (!stays || hub === null) return
        print(`\nThe page stays at ${hub.url} until Ctrl-C`)
        await told
      },
      signal: stopped.signal,
    })
  } finally {
    over()
  }
  return { data: null, text: '', streamed: true }
}

/** In a checkout of ours the commands that are shown are on nobody's path yet. */
function wayTo(root: string, home: string, env: Env): string {
  const isOnPath = (env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'heimdall')))
  return `cd ${root}${isOnPath ? '' : ` && export PATH="${join(home, 'bin')}:$PATH"`}`
}

function opening({ style: { color } }: Context, way: string, root: string, hub: DemoHub | null): string {
  return [
    `The fleet works in ${root}`,
    ...(hub === null ? [] : [`Look at it: ${color.bold(hub.link ?? hub.url)}`]),
    color.dim(`In another terminal: ${way}`),
    color.dim('then heimdall status, hm ls, hm attach amber-otter'),
    '',
  ].join('\n')
}

const NAME_WIDTH = 14

function lineOf({ style: { color } }: Context, startMs: number, { atMs, who, type, text }: Happening): string {
  const seconds = (Math.max(0, atMs - startMs) / 1_000).toFixed(1).padStart(6)
  const words = inlineText(text)
  const isLoud = ['INCURSION', 'TAKEOVER', 'wait_start'].includes(type) || words.includes(' refused ')
  return `${color.dim(`${seconds}s`)}  ${inlineText(who).padEnd(NAME_WIDTH)}  ${isLoud ? color.yellow(words) : words}`
}

function ending({ style }: Context, { runs, tokens, dispatch }: Summary, way: string): string {
  const rows = runs.map(({ agent, status, calls, refused, run_id }) => [
    agent,
    status,
    String(calls),
    String(refused),
    run_id,
  ])
  const tried = dispatch.attempts.map(
    ({ worker, state, reason }) => `${worker} ${state}${reason === null ? '' : ` (${reason})`}`,
  )
  return [
    '',
    renderTable(style, ['AGENT', 'RUN', 'CALLS', 'REFUSED', 'RUN ID'], rows),
    '',
    `Task ${dispatch.task}: ${tried.join(', then ')}`,
    `Briefs: ${tokens.by_reference} tokens by reference, ${tokens.verbatim} verbatim (${tokens.saved_percent} % less, counted)`,
    '',
    `To look through it:  ${way}`,
    '  heimdall claim history     who held what, who ran into whom',
    '  heimdall runs show RUN     one run',
    '  hm logs amber-otter        what its terminal showed',
    '  hm export amber-otter FILE the recording of it as asciicast, which asciinema plays',
    '  heimdall events query      every call, with its decision',
    '  heimdall up                the page',
  ].join('\n')
}
