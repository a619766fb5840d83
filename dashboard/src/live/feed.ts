// The live feed: one line for all tabs, opened again where it stopped, however it stopped.
import type { HubReply, LiveEvents } from '../../../src/hub/contract.ts'
import { chosenProject, dropPass, get, hubAddress, HubError, passNow, readReply } from './api.ts'
import { Line, type LineNews } from './line.ts'
import type { LineAsk } from './line-worker.ts'
import { change, takeLog, takeScreens, takeState, watchNow } from './watch.ts'

const RETRY_MS = [1_000, 2_000, 4_000, 8_000, 15_000]

/** Whether news are waited for, also while the line is lost: another tab may be the first to have it again. */
let isListening = false
let lastId = ''
let failures = 0
let retry: ReturnType<typeof setTimeout> | undefined
let screenLines = 0
/** Reopened by the page itself, which is nothing to tell of. */
let isPlanned = false

/** Null where the browser has no such workers: then each tab has a line of its own. */
const shared = sharedLine()
const own = new Line()

function sharedLine(): MessagePort | null {
  if (typeof SharedWorker === 'undefined') return null
  const { port } = new SharedWorker(new URL('./line-worker.ts', import.meta.url), { type: 'module', name: 'heimdall' })
  port.onmessage = ({ data }: MessageEvent<LineNews>) => take(data)
  return port
}

/** Asks who the hub is, then follows it. */
export async function startFeed(): Promise<void> {
  clearTimeout(retry)
  try {
    const hub = await get<HubReply>('hub')
    change({ hub, banners: hub.banners, skewMs: Date.parse(hub.now) - Date.now() })
    const wanted = chosenProject()
    if (wanted !== null && !hub.projects.some(({ project }) => project === wanted))
      return change({ connection: { status: 'no-project', hub } })
  } catch (error) {
    const code = error instanceof HubError ? error.code : ''
    // A page that shows nothing yet has nothing to wait with: it says what to type.
    const isOut = code === 'HUB_TOKEN_REQUIRED' || (code === 'HUB_NOT_PROVED' && watchNow().hub === null)
    const isTaken = code === 'HUB_NOT_PROVED'
    return isOut ? change({ connection: { status: 'signed-out', isTaken } }) : lost(isTaken)
  }
  await open()
}

async function open(isAnew = false): Promise<void> {
  let pass: string
  try {
    pass = await passNow()
  } catch {
    // Whatever failed, the hub or the browser's storage: it is tried again.
    return lost()
  }
  isListening = true
  const wish = { address: hubAddress('events'), pass, after: lastId, screens: screenLines, isAnew }
  if (shared === null) own.join(own, wish, take)
  else shared.postMessage(wish satisfies LineAsk)
}

/** Other tabs keep theirs. */
function leave(): void {
  isListening = false
  if (shared === null) own.leave(own)
  else shared.postMessage(null satisfies LineAsk)
}

function take(news: LineNews): void {
  if (!isListening) return
  if (news.name === 'lost') return lost()
  if (news.id !== '') lastId = news.id
  TAKE[news.name](readReply(news.text) as never)
}

const TAKE: { readonly [Name in keyof LiveEvents]: (data: LiveEvents[Name]) => void } = {
  hello(hello) {
    const { connection } = watchNow()
    const wasLost = connection.status === 'lost' && !isPlanned
    failures = 0
    isPlanned = false
    clearTimeout(retry)
    change({
      // What was given is too old or of another store: every part is asked for again.
      ...(hello.reset && { generation: watchNow().generation + 1 }),
      connection: {
        status: 'live',
        caughtUp: wasLost ? (hello.caught_up ?? 0) : null,
        backSince: wasLost ? Date.now() : null,
      },
    })
  },
  state: takeState,
  log: takeLog,
  screens: ({ screens }) => takeScreens(screens),
}

/** `isTaken`: another program answers at the address. */
function lost(isTaken = false): void {
  dropPass()
  const { connection } = watchNow()
  const waitMs = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 15_000
  failures += 1
  const lostAt = connection.status === 'lost' ? connection.lostAt : Date.now()
  change({ connection: { status: 'lost', lostAt, retryAt: Date.now() + waitMs, isTaken } })
  clearTimeout(retry)
  retry = setTimeout(() => void startFeed(), waitMs)
}

/** "Try now". */
export function tryNow(): void {
  failures = 0
  void startFeed()
}

/** Thumbnails of so many lines come with the feed while somebody looks at them; 0 for none. */
export function wantScreens(lines: number): void {
  if (lines === screenLines) return
  screenLines = lines
  if (watchNow().connection.status !== 'live') return
  isPlanned = true
  void open()
}

/** After this long out of sight the line may be dead without having said so: it is opened anew where it stopped. */
const ASLEEP_MS = 60_000

export function wakeWithBrowser(): void {
  let hiddenAt = 0
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') hiddenAt = Date.now()
    else if (watchNow().connection.status === 'lost') tryNow()
    else if (isListening && Date.now() - hiddenAt > ASLEEP_MS) void open(true)
  })
  // A page that the browser keeps for the way back holds no line meanwhile.
  window.addEventListener('pagehide', leave)
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) tryNow()
  })
  window.addEventListener('online', () => {
    if (watchNow().connection.status === 'lost') tryNow()
  })
}
