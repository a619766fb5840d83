// On a full disk the hub never ended, doctor found nothing wrong, and some errors named another file, or no way out.
import { expect, test } from 'vitest'
import { canMount, runOnDisk } from '../support/full-disk.ts'
import { temporaryProject } from '../support/project.ts'

test.runIf(canMount)('a hub that cannot say where it listens ends', async () => {
  const { home, env } = temporaryProject()
  expect(await runOnDisk('full', home, ['up', '--port', '0'], { env })).toMatchObject({
    code: 8,
    stderr: expect.stringMatching(/^error: no space left to write .*hub\.json\n/),
  })
})

interface Row {
  readonly check: string
  readonly state: string
  readonly found: string
}

test.runIf(canMount)('doctor sees that a disk is full, whichever it is', async () => {
  const project = temporaryProject()
  const { root, home, env } = project
  await project.run('heimdall', ['agent', 'register', '--name', 'amber-otter', '--role', 'x'])
  const failed = async (folder: string): Promise<Record<string, string>> => {
    const { code, stdout } = await runOnDisk('full', folder, ['doctor', '--json'], { cwd: root, env })
    expect(code).toBe(1)
    const { checks } = (JSON.parse(stdout) as { data: { checks: Row[] } }).data
    return Object.fromEntries(checks.flatMap(({ check, state, found }) => (state === 'fail' ? [[check, found]] : [])))
  }
  expect(await failed(root)).toEqual({ coordination: expect.stringContaining('full: no space left to write') })
  expect(await failed(home)).toMatchObject({ 'state folder': expect.stringContaining('no space left to write') })
})

test.runIf(canMount)('a demo with no room names what it could not write', async () => {
  const { home, env } = temporaryProject()
  expect(await runOnDisk('full', home, ['demo', '--fast', '--no-hub'], { env })).toMatchObject({
    code: 8,
    stderr: expect.stringMatching(/^error: no space left to write \S*\/home\/\S+\/tally\/PLAN\.md\n/),
  })
})

test.runIf(canMount).each([
  ['full', 8, /^error: no space left to write first\.yaml\nhint: free some space/],
  ['read-only', 8, /^error: cannot use first\.yaml: EROFS.*\nhint: its file system is mounted read-only/],
] as const)('policy init on a disk that is %s says what to do', async (kind, code, words) => {
  const { root, env } = temporaryProject()
  const args = ['policy', 'init', '--from', 'careful', '--out', 'first.yaml']
  expect(await runOnDisk(kind, root, args, { env })).toMatchObject({ code, stderr: expect.stringMatching(words) })
})

test.runIf(canMount)('a read-only disk is not taken for a matter of permissions', async () => {
  const { root, home, env } = temporaryProject()
  for (const [folder, args] of [
    [root, ['claim', 'take', 'src']],
    [home, ['run', '--', 'true']],
  ] as const) {
    const { code, stderr } = await runOnDisk('read-only', folder, args, { cwd: root, env })
    expect([code, stderr]).toEqual([8, expect.stringContaining('hint: its file system is mounted read-only')])
  }
})
