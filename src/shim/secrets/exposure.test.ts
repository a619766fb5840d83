// Secrets in a stream of answers are seen once each, wherever its chunks are cut, and nothing of the stream is kept longer than needed.
import { expect, test } from 'vitest'
import { HARD_SECRETS, SECRET_FORMS } from '../../../test/support/secret-forms.ts'
import { scaled } from '../../../test/support/scale.ts'
import { KnownSecrets } from '../../known-secrets/known-secrets.ts'
import { Exposure } from './exposure.ts'

/** Longer than a seam in every form; no two parts alike, or comparing them would be all that this test does. */
const LONG = Array.from({ length: 500 }, (_, i) => `k3y/${i * 7_919}`).join('')

test('cut anywhere, each secret is told once, up to the end of its line', () => {
  const name = { inject_as: 'A', secret_ref: 'a', source: 'env' } as const
  for (const secret of [...HARD_SECRETS.slice(0, scaled(2, 20)), LONG])
    for (const write of Object.values(SECRET_FORMS)) {
      const known = new KnownSecrets([secret])
      const text = Buffer.from(`{"text":"say ${write(secret)} twice"}\n`)
      const step = Math.max(1, Math.floor(text.length / scaled(6, 400)))
      for (let cut = 1; cut < text.length; cut += step) {
        const exposure = new Exposure(known, (bytes) => (known.isIn(bytes) ? [name] : []))
        exposure.push(text.subarray(0, cut))
        const early = exposure.takeUpTo(cut)
        exposure.push(text.subarray(cut))
        expect([...early, ...exposure.takeUpTo(text.length - cut)], `cut at ${cut}`).toEqual([name])
      }
    }
})
