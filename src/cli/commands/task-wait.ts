// Waits for a task: brings queued tasks to workers while no other process does, and shows how far the task is.
import { pause } from '../../clock.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { followTask, isUnderWay } from '../../dispatch/follow-task.ts'
import { orchestratedBy } from '../../dispatch/peers.ts'
import { TaskProgress } from '../../dispatch/runner/so-far.ts'
import { showTask } from '../../dispatch/tasks.ts'
import { EXIT, HeimdallError } from '../../errors.ts'
import { escapeControls } from '../../ids.ts'
import { DISPATCH_LOOK_MS, TASK_PROGRESS_MS } from '../../limits.ts'
import { quoted } from '../../quoted.ts'
import type { Answer, Context } from '../command.ts'
import { taskText, wholeRecord } from './task-text.ts'
import { orchestrate } from './worker.ts'
import { peersFor } from './peers.ts'

/** Until the task has ended or needs a human. Ctrl-C stops waiting, and the task stays. */
export async function waitForTask(
  context: Context,
  db: Coordination,
  taskId: string,
  timeoutMs?: number,
): Promise<Answer> {
  const over = new AbortController()
  const stop = (): void => over.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const timer = timeoutMs === undefined ? undefined : context.clock.after(timeoutMs, stop)
  context.note(`waiting for ${escapeControls(taskId)} to end; Ctrl-C stops waiting, and the task stays`)
  const waiting = new AbortController()
  const signal = AbortSignal.any([over.signal, waiting.signal])
  const beside = Promise.all([keepOrchestrating(context, db, signal), showProgress(context, db, taskId, signal)])
  try {
    const ended = followTask(db, taskId, signal, (state) => context.note(escapeControls(`${taskId}: ${state}`)))
    // Both run until they are stopped: one that ends before that has failed.
    await Promise.race([ended, beside])
  } finally {
    waiting.abort()
    timer?.cancel()
    process.off('SIGINT', stop).off('SIGTERM', stop)
    await beside
  }
  const shown = showTask(db, taskId)
  const { state } = shown.task
  if (over.signal.aborted && isUnderWay(shown.task))
    throw new HeimdallError(timeoutMs === undefined ? 'INTERRUPTED' : 'WAIT_TIMEOUT', `${taskId} is ${state}`, {
      hint:
        state === 'in_progress'
          ? `it continues at its worker: heimdall task show ${quoted(taskId)}`
          : `it stays in the queue: heimdall task explain ${quoted(taskId)} shows which worker could take it`,
    })
  return {
    data: wholeRecord(shown),
    text: taskText(db, taskId),
    ...(state === 'done' ? {} : { exit: EXIT.failure }),
  }
}

/** Orchestrates where no other process does, also when that one ends later. */
async function keepOrchestrating(context: Context, db: Coordination, signal: AbortSignal): Promise<void> {
  const { dir } = await peersFor(context, db.project)
  let isTold = false
  const isOver = (): boolean => signal.aborted
  while (!isOver()) {
    const running = await orchestrate(context, db, undefined, 'heimdall task --wait')
    if (running === undefined) {
      if (!isTold) context.note(`${orchestratedBy(db, dir) ?? 'another process'} sends queued tasks to workers`)
      isTold = true
      await pause(context.clock, DISPATCH_LOOK_MS, signal)
      continue
    }
    context.note(`${isTold ? 'that process ended; ' : ''}this command sends queued tasks to workers while it waits`)
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    try {
      await Promise.race([stopped, running.done])
    } finally {
      await running.stop()
    }
    isTold = true
  }
}

/** What the agent has said and done, from its stream, where its worker is on this machine. */
async function showProgress(context: Context, db: Coordination, taskId: string, signal: AbortSignal): Promise<void> {
  const { dir } = await peersFor(context, db.project)
  let progress: { readonly id: string; readonly of: TaskProgress } | undefined
  let told = ''
  while (!signal.aborted) {
    const { remoteId, endedMs } = showTask(db, taskId).attempts.at(-1) ?? {}
    if (typeof remoteId === 'string' && endedMs === null && progress?.id !== remoteId)
      progress = { id: remoteId, of: new TaskProgress(`${dir}/tasks/${remoteId}`) }
    const turn = progress?.of.read()
    if (turn !== undefined) {
      const { turns, toolCalls } = turn.counts()
      const text = `${turns} turns, ${toolCalls} tool calls, ${turn.spent()} tokens`
      if (text !== told) context.note(escapeControls(`${taskId}: ${text}`))
      told = text
    }
    await pause(context.clock, TASK_PROGRESS_MS, signal)
  }
}
