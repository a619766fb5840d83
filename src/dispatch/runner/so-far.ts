// What a task took whose process could not say so itself: read again out of the frames that it kept.
import { closeSync, openSync, readSync } from 'node:fs'
import { isErrno } from '../../errors.ts'
import type { TaskResult } from '../messages.ts'
import { FrameLines } from './runtime-lines.ts'
import { framesPath, type RuntimeName } from './order.ts'
import { measured, UNKNOWN } from './turn-result.ts'
import { RUNTIMES } from './runtime.ts'

export function measuredSoFar(dir: string, runtime: RuntimeName): Pick<TaskResult, 'tokens_spent' | 'usage'> {
  if (runtime === 'command') return measured(UNKNOWN, 0)
  const turn = RUNTIMES[runtime].turn()
  let frames = 0
  for (const frame of framesIn(framesPath(dir))) {
    turn.frame(frame)
    frames += 1
  }
  return frames === 0 ? measured(UNKNOWN, 0) : measured(turn.usage(), turn.spent())
}

function* framesIn(path: string): Generator<Record<string, unknown>> {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return
    throw error
  }
  try {
    const lines = new FrameLines()
    const piece = Buffer.alloc(1 << 16)
    for (let read = readSync(fd, piece); read > 0; read = readSync(fd, piece))
      yield* lines.push(piece.subarray(0, read))
  } finally {
    closeSync(fd)
  }
}
