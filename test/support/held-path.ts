// A path that another agent holds, registered and reserved by commands as agents of seed 002 do.
import { expect } from 'vitest'
import type { TemporaryProject } from './project.ts'

export async function holdFor(project: TemporaryProject, agent: string, path: string): Promise<void> {
  const register = ['agent', 'register', '--name', agent, '--role', 'backend']
  const reserve = ['agent', 'reserve', '--agent', agent, '--scope', path, '--bead', 'T-9']
  for (const args of [register, reserve]) expect(await project.run('bb', args)).toMatchObject({ code: 0 })
}
