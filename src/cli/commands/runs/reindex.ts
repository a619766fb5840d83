// heimdall runs reindex: makes the run index anew from the records alone, or goes on with it as they grow.
import { pause } from '../../../clock.ts'
import { HeimdallError } from '../../../errors.ts'
import { INDEX_FOLLOW_MS } from '../../../limits.ts'
import { behindOf, catchUp } from '../../../runs/index/catch-up.ts'
import { indexPath, openIndexToRead } from '../../../runs/index/run-index.ts'
import { runsDirOf } from '../../../paths.ts'
import { WatchedFolders } from '../../../runs/watch-folders.ts'
import type { Answer, Context, Run } from '../../command.ts'
import { size } from '../../render/size.ts'
import type { runsReindex } from '../../table/runs.ts'
import { ProgressLine } from './progress-line.ts'

export const run: Run<typeof runsReindex> = async (context, { flags }) => {
  if (flags.follow === true) return await follow(context)
  await bringUp(context, true)
  return answer(context)
}

async function bringUp({ env, clock, note, stderr }: Context, anew: boolean): Promise<void> {
  const progress = new ProgressLine(stderr, clock)
  const options = { runsDir: runsDirOf(env), clock, note, anew, onProgress: progress.show }
  try {
    if (await catchUp(options)) return
  } finally {
    progress.clear()
  }
  throw new HeimdallError('STORE_BUSY', 'another process is indexing the runs', {
    hint: 'it does the same work; run the command again when it is done',
  })
}

/** Until it is interrupted. Between two looks the index is free for others. */
async function follow(context: Context): Promise<Answer> {
  const { env, clock, note } = context
  const runsDir = runsDirOf(env)
  await bringUp(context, false)
  note('following the records; end with Ctrl-C')
  const changes = new WatchedFolders()
  for (;;) {
    changes.add(runsDir)
    const changed = changes.next()
    await catchUp({ runsDir, clock, note })
    await pause(clock, INDEX_FOLLOW_MS, changed)
  }
}

function answer({ env }: Context): Answer {
  const runsDir = runsDirOf(env)
  const path = indexPath(runsDir)
  const index = openIndexToRead(path)
  if (index === undefined) throw new HeimdallError('INTERNAL', 'the index that was just made is not there')
  try {
    const records = index.records.all()
    const sum = (field: 'events' | 'bad_lines' | 'newer_events'): number =>
      records.reduce((total, record) => total + record[field], 0)
    const data = {
      index: path,
      runs: records.length,
      events: sum('events'),
      bad_lines: sum('bad_lines'),
      newer_events: sum('newer_events'),
      behind: behindOf(index, runsDir),
    }
    const texts = [`Indexed ${data.events} events of ${data.runs} ${data.runs === 1 ? 'run' : 'runs'}.`]
    if (data.bad_lines > 0) texts.push(`${data.bad_lines} lines are no events and were passed over.`)
    if (data.newer_events > 0) texts.push(`${data.newer_events} events are of a newer version.`)
    if (data.behind.bytes > 0) texts.push(`${size(data.behind.bytes)} came meanwhile.`)
    return { data, text: texts.join('\n') }
  } finally {
    index.close()
  }
}
