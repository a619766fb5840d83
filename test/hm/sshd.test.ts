// hm --host against a real sshd, over a line that can be cut and stopped. In `npm run soak`, where scripts/install-sshd.sh has put one.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { launcher } from '../support/programs.ts'
import { temporaryFolder } from '../support/project.ts'
import { isSoak } from '../support/scale.ts'
import { hasSshd, startSshd } from '../support/sshd.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { hm } from './hm.ts'
import { atTerminal } from './person.ts'

test.runIf(isSoak && hasSshd())('attached over a real ssh, cut and come back to; one connection for all', async () => {
  const box = hm()
  const here = hm()
  const sshd = await startSshd(temporaryFolder(), box.home, launcher('hm'))
  onTestFinished(() => sshd.stop())
  const line = await startTcpProxy(sshd.port)
  onTestFinished(() => line.close())
  sshd.through(line.port)
  await box.session('shell', ['bash', '--norc', '--noprofile', '-i'])
  expect((await here.run(['--host', 'box', 'ls'], { env: sshd.env })).stdout).toContain('shell')
  const control = join(here.home, '.local/state/heimdall/ssh')
  expect(statSync(control).mode & 0o777).toBe(0o700)
  expect(readdirSync(control)).toHaveLength(1)

  const person = atTerminal(here, ['--host', 'box', 'attach', 'shell'], { extraEnv: sshd.env })
  await person.see(/\$ *$/m)
  for (let n = 1; n <= 5; n += 1) {
    person.type(`echo round-${n}-$((n + ${n}))\r`)
    await person.see(new RegExp(`^round-${n}-${n}$`, 'm'))
    line.cutAfter('answers', 0)
    person.type('#')
    await person.see('connection lost')
    line.mend()
    await person.see('connected again')
    person.type('\u0015')
  }
  // A line on which nothing passes any more is found out by ssh.
  line.stop()
  person.type('#')
  await person.see('connection lost')
  line.mend()
  await person.see('connected again')
  person.type('\u0015exit 9\r')
  expect(await person.ended).toBe(9)
})
