// What every agent pays for before it has done anything: the list of tools.
import { expect, test } from 'vitest'
import { measure } from '../briefing/tokens.ts'
import { listing } from './tool.ts'
import { TOOLS } from './tools.ts'

test('description and schema of each tool cost fewer than 100 tokens', () => {
  const costs = TOOLS.map((tool) => {
    const { description, inputSchema } = listing(tool)
    return [tool.name, measure(`${description}\n${JSON.stringify(inputSchema)}`).tokens] as const
  })
  expect(costs.filter(([, tokens]) => tokens >= 100)).toEqual([])
})

test('seed 000 T-4: the six tools, their arguments, and client_identity on every tool', () => {
  const shapes = Object.fromEntries(
    TOOLS.map(({ name, args, required }) => [name, { args: Object.keys(args), required }]),
  )
  expect(shapes).toMatchObject({
    read_claims: { required: [] },
    make_claim: { required: ['surfaces', 'task'], args: expect.arrayContaining(['ttl_minutes']) },
    release_claim: { required: [], args: expect.arrayContaining(['haid']) },
    read_capsules: { required: [], args: expect.arrayContaining(['id']) },
    append_decision: { required: ['title', 'body'] },
    raise_conflict_pr: {
      required: ['id', 'title', 'surfaces'],
      args: expect.arrayContaining(['displaced_haid', 'overriding_intent', 'displaced_intent']),
    },
  })
  for (const { args } of TOOLS) expect(args).toHaveProperty('client_identity')
})
