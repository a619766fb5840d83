// Orchestrating from a command line: with an address for announces, or only for as long as somebody waits for a task.
import type { Coordination } from '../../../coordination/coordination.ts'
import { type RunningOrchestrator, startOrchestrator } from '../../../dispatch/a2a/start-orchestrator.ts'
import { escapeText } from '../../../ids.ts'
import type { Context } from '../../command.ts'
import { planningOf } from '../../planning-of.ts'
import { VERSION } from '../../version.ts'
import { knownPeers } from './known-peers.ts'

/** Nothing while another does it. */
export async function orchestrate(
  context: Context,
  room: Coordination,
  listen: { readonly host: string; readonly port: number } | undefined,
): Promise<RunningOrchestrator | undefined> {
  const { dir, peers } = await knownPeers(context, room.project)
  return await startOrchestrator({
    room,
    dir,
    workers: () => peers('worker'),
    listen,
    version: VERSION,
    planning: planningOf(context),
    // What workers and peers say of a task is passed on by it.
    note: (line) => context.note(escapeText(line)),
  })
}
