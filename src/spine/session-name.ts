// What the session of a run is called where the agent's own name is taken by a session elsewhere.
import type { Project } from '../paths.ts'

/** With four digits of the project behind it. */
export function sessionElsewhere(agentId: string, { root }: Pick<Project, 'root'>): string {
  // Loaded where it is needed: most looks never come to it, and it takes longer than the rest of one.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return `${agentId}-${createHash('sha256').update(root).digest('hex').slice(0, 4)}`
}
