// The demo from its first file to its last process: stage, hub, play, summary, end.
import type { Clock } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { DEMO_MS_MAX, HUB_PORT } from '../limits.ts'
import type { Env } from '../paths.ts'
import { PACE_VARIABLE } from './agents/agent.ts'
import { perform } from './play.ts'
import { Processes } from './processes.ts'
import { setStage } from './stage.ts'
import { type Happening, Story } from './story.ts'
import { summarize, type Summary } from './summary.ts'

export interface DemoOptions {
  readonly dir: string | undefined
  readonly env: Env
  readonly clock: Clock
  readonly launcher: string
  readonly program: string
  readonly withHub: boolean
  readonly pace: number
  readonly note: (line: string) => void
  readonly onReady: (root: string, hub: DemoHub | null) => void
  readonly onHappening: (happening: Happening) => void
  /** The summary, while the hub is still there; the demo ends when it resolves. */
  readonly onEnd: (summary: Summary, hub: DemoHub | null, root: string) => Promise<void>
  /** Aborts when the user stops the demo. */
  readonly signal: AbortSignal
}

export interface DemoHub {
  readonly url: string
  /** For one visit; null where no person asks. */
  readonly link: string | null
}

export async function playDemo(options: DemoOptions): Promise<'played' | 'stopped'> {
  const { clock, launcher, program, pace, signal } = options
  const stage = await setStage(options)
  if (signal.aborted) return 'stopped'
  const { root } = stage
  const env = { ...stage.env, [PACE_VARIABLE]: String(pace) }
  const processes = new Processes({ launcher, cwd: root, env, clock })
  const story = new Story({ root, env, clock, tell: options.onHappening })
  let cut: (error: HeimdallError) => void = () => undefined
  const cutShort = new Promise<never>((_, reject) => {
    cut = reject
  })
  const stop = (): void => {
    processes.stop()
    cut(new HeimdallError('INTERRUPTED', 'the demo was stopped'))
  }
  signal.addEventListener('abort', stop)
  const tooLong = clock.after(DEMO_MS_MAX, () =>
    cut(new HeimdallError('DEMO_STUCK', 'the demo did not come to its end')),
  )
  const work = async (): Promise<void> => {
    const hub = options.withHub ? await startHub(processes) : null
    options.onReady(root, hub)
    await story.begin()
    await perform({ stage, story, processes, clock, program, pace })
    tooLong.cancel()
    // From here on whoever stops it has seen all of it.
    signal.removeEventListener('abort', stop)
    await options.onEnd(await summarize(processes, story.runs), hub, root)
  }
  const working = work()
  try {
    await Promise.race([cutShort, working])
    return 'played'
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'INTERRUPTED') return 'stopped'
    throw error
  } finally {
    tooLong.cancel()
    signal.removeEventListener('abort', stop)
    await story.end()
    await processes.end()
    // What was under way was cut off with them; the reason is told already.
    await working.catch(() => undefined)
  }
}

/** A hub that runs already shows the stage as well, and goes on after the demo. */
async function startHub(processes: Processes): Promise<DemoHub> {
  for (const port of [HUB_PORT, 0]) {
    const { said } = processes.reside(['up', '--json', '--port', String(port)], /^\{"ok".*\}\n/m)
    const { data, error } = JSON.parse(await said) as {
      readonly data: DemoHub | null
      readonly error: { readonly code: string; readonly message: string } | null
    }
    if (data !== null) return { url: data.url, link: data.link }
    if (error?.code !== 'HUB_PORT_TAKEN') throw new HeimdallError('INTERNAL', `heimdall up: ${error?.message ?? ''}`)
  }
  throw new HeimdallError('HUB_PORT_TAKEN', 'no port is free for the hub')
}
