// What is told of a question that failed (docs/fleet.md): nothing happened, or nobody knows.
import { expect, test } from 'vitest'
import { HeimdallError } from '../errors.ts'
import { failureOf, isOfServer } from './failures.ts'

const told = (code: string): unknown => {
  const failure = failureOf(Object.assign(new Error('it failed'), { code }))
  return failure.again || (failure.error instanceof HeimdallError && failure.error.code)
}

test.each([
  ['EPIPE', 'OUTCOME_UNKNOWN', false],
  ['ECONNRESET', 'OUTCOME_UNKNOWN', false],
  ['CONNECTION_CLOSED', 'OUTCOME_UNKNOWN', false],
  ['ECONNREFUSED', 'ENGINE_UNREACHABLE', false],
  ['57P01', 'OUTCOME_UNKNOWN', true],
  ['57P03', 'ENGINE_UNREACHABLE', true],
  ['25P03', 'OUTCOME_UNKNOWN', true],
  ['53100', 'ENGINE_REFUSED', true],
  ['23505', 'ENGINE_REFUSED', true],
  ['XX000', 'ENGINE_REFUSED', true],
  ['55P03', 'STORE_BUSY', true],
  ['40001', true, true],
])('%s is %s', (code, expected, ofServer) => {
  expect(told(code)).toBe(expected)
  expect(isOfServer({ code })).toBe(ofServer)
})
