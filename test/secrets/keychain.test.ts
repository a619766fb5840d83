// The system's keychain, by stand-ins for its programs on PATH: what they are asked, and what comes of each way they can answer.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lookInKeychain } from '../../src/shim/secrets/keychain.ts'
import { systemClock } from '../../src/clock.ts'
import { temporaryFolder } from '../support/project.ts'

/** A folder with a program of this name in it. */
function standIn(name: string, script: string): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return folder
}

const look = (platform: NodeJS.Platform, folder: string): ReturnType<typeof lookInKeychain> =>
  lookInKeychain('github_token', { platform, env: { PATH: folder }, clock: systemClock })

test('Linux: secret-tool is asked, and what it prints is the value, newline and all', async () => {
  const folder = standIn(
    'secret-tool',
    '[ "$*" = "lookup service heimdall account github_token" ] && printf \'va "lue\\n\'',
  )
  expect(await look('linux', folder)).toEqual({ value: 'va "lue\n' })
})

test('macOS: security is asked, and ends what it prints with a newline of its own', async () => {
  const folder = standIn('security', '[ "$*" = "find-generic-password -s heimdall -a github_token -w" ] && echo va-lue')
  expect(await look('darwin', folder)).toEqual({ value: 'va-lue' })
})

test.each([
  ['linux', 'other', '', 'secret-tool is not on PATH: install libsecret-tools'],
  ['darwin', 'other', '', 'security is not on PATH'],
  [
    'linux',
    'secret-tool',
    'echo "no D-Bus" >&2; exit 1',
    'found nothing for service heimdall and account github_token: "no D-Bus"',
  ],
  ['linux', 'secret-tool', 'exit 0', 'found nothing'],
  ['aix', 'other', '', 'no keychain is known on aix'],
] as const)('%s, %s, %j: %s', async (platform, name, script, said) => {
  expect(await look(platform, standIn(name, script))).toEqual({ problem: expect.stringContaining(said) as string })
})
