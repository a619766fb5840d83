// A store that the caller may not see was taken for none, so that a held path was clear to whoever runs as another user.
import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { claimScopes } from '../../src/coordination/claims/claims.ts'
import { enter, openRoom, wants } from '../coordination/room.ts'
import { launcher } from '../support/programs.ts'
import { temporaryProject } from '../support/project.ts'

const NOBODY = 65_534

test('seed 002 §5: who cannot look into the store is told so, and never that a path is free', async () => {
  const project = temporaryProject()
  const room = openRoom({ project })
  await claimScopes(room, await enter(room, 'amber-otter'), wants(room, 'src'))
  // Root steps down; others lose the right to enter.
  const isRoot = process.getuid?.() === 0
  const folder = room.project.coordinationDir
  spawnSync('chmod', ['-R', 'a+rX', dirname(project.root)])
  chmodSync(folder, isRoot ? 0o700 : 0o000)
  try {
    for (const words of [['claim', 'check', 'src/x'], ['why', 'src/x'], ['claim', 'list'], ['doctor']]) {
      const [node, ...args] = [...launcher('heimdall'), ...words] as [string, ...string[]]
      const { status, stdout, stderr } = spawnSync(node, args, {
        cwd: project.root,
        env: { PATH: process.env['PATH'], ...project.env },
        encoding: 'utf8',
        ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
      })
      expect([words, status, stdout + stderr]).toEqual([words, expect.any(Number), expect.stringMatching(/EACCES/)])
      expect([words, status]).not.toEqual([words, 0])
    }
  } finally {
    chmodSync(folder, 0o700)
  }
})
