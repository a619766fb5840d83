// A real sshd on the loopback, with keys of its own, that lets one user in to "another machine": the home that it is given. `scripts/install-sshd.sh` installs it.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { waitForSocket } from './wait.ts'

const SSHD = '/usr/sbin/sshd'

export const hasSshd = (): boolean => existsSync(SSHD)

export interface Sshd {
  readonly port: number
  /** Its `ssh` knows the machine `box`; to be added to the environment of whoever calls it. */
  readonly env: { readonly PATH: string }
  /** Where ssh connects to from now on, for whoever puts a proxy in between. */
  through(port: number): void
  stop(): void
}

/** `folder` is the caller's to remove; `home` is that of the machine that is reached, `hm` what its user calls so. */
export async function startSshd(folder: string, home: string, hm: readonly string[]): Promise<Sshd> {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  const at = (name: string): string => join(folder, name)
  for (const name of ['host_key', 'user_key'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)])
  const program = (name: string, text: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  program('hm', `exec '${hm.join("' '")}' "$@"`)
  program('ssh', `exec /usr/bin/ssh -F '${at('ssh_config')}' "$@"`)
  const port = await freePort()
  writeFileSync(
    at('sshd_config'),
    `Port ${port}
ListenAddress 127.0.0.1
HostKey ${at('host_key')}
AuthorizedKeysFile ${at('user_key.pub')}
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PidFile none
SetEnv HOME=${home} PATH=${bin}:${process.env['PATH'] ?? ''}
`,
  )
  const known = (through: number): void =>
    writeFileSync(
      at('ssh_config'),
      `Host box
  HostName 127.0.0.1
  Port ${through}
  User ${userInfo().username}
  IdentityFile ${at('user_key')}
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile ${at('known_hosts')}
`,
    )
  known(port)
  // Where it puts itself in prison before it knows who comes.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true })
  const child = spawn(SSHD, ['-D', '-e', '-f', at('sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await waitForSocket(port, { context: () => said })
  return {
    port,
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    through: known,
    stop: () => void child.kill('SIGKILL'),
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
