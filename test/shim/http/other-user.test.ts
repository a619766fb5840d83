// Another user learns the path of the proxy while the proxy is stopped: it is of no use to that user afterwards.
import { expect, test } from 'vitest'
import { echo, playServer, startProxy } from '../../support/http-proxy.ts'
import { otherUserListens, otherUserPosts } from '../../support/other-user.ts'
import { temporaryFolder } from '../../support/project.ts'
import { toolCall } from '../../support/shim-client.ts'
import { waitForDeath } from '../../support/programs.ts'
import { until } from '../../support/wait.ts'

test('a path that another user has recorded on the port of a stopped proxy opens nothing to that user', async () => {
  const far = await playServer(echo)
  const home = temporaryFolder()
  const first = await startProxy(far.url, { home })
  await first.end()
  const squatter = await otherUserListens(first.port, { jsonrpc: '2.0', id: 1, result: {} })
  // The host's client knows nothing of the change.
  await first.post(toolCall(1, 'echo', {}))
  await until('the path to leak', () => squatter.received().includes(first.path))
  squatter.program.kill()
  await waitForDeath(squatter.program.pid)

  const again = await startProxy(far.url, { home, listen: String(first.port) })
  expect(again.address).toBe(first.address)
  expect(await otherUserPosts(again.address, toolCall(2, 'echo', {}))).toMatch(/^(ECONNRESET|EPIPE)$/)
  await until('it to be noted', () => again.program.stderr().includes('the client belongs to another user'))
  expect(far.seen).toHaveLength(0)
  expect((await again.post(toolCall(3, 'echo', {}))).status).toBe(200)
  await again.end()
})
