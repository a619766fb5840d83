// Peers as a command line knows them: those of the user's settings, and those that this machine has for the repository.
import type { PeerEntry } from '../../../config.ts'
import { dispatchDir, type KnownPeer, localPeers, settingsPeers } from '../../../dispatch/peers.ts'
import type { Project } from '../../../paths.ts'
import type { Context } from '../../command.ts'

interface Surroundings {
  readonly dir: string
  /** Looked up at each use: a worker that starts later is found. */
  readonly peers: (role: PeerEntry['role']) => readonly KnownPeer[]
}

export async function knownPeers(context: Context, project: Project): Promise<Surroundings> {
  const entries = (await context.settings()).peers.value as readonly PeerEntry[]
  const dir = dispatchDir(context.env, project)
  const settled = {
    worker: settingsPeers(entries, 'worker', context.cwd),
    orchestrator: settingsPeers(entries, 'orchestrator', context.cwd),
  }
  return { dir, peers: (role) => [...settled[role], ...localPeers(dir, role)] }
}
