// The browser of the tests itself: it starts, draws, and is as careful with pages as that of a person.
import { expect, test } from 'vitest'
import { startBrowser } from '../support/browser.ts'

test('Chromium starts from what npm ci installed', async () => {
  const browser = await startBrowser('emulated')
  try {
    const page = await browser.newPage()
    await page.setContent('<h1>héimdall ◆ ⋈</h1><canvas></canvas>')
    expect(await page.textContent('h1')).toBe('héimdall ◆ ⋈')
    expect(await page.evaluate("document.querySelector('canvas').getContext('webgl2') !== null")).toBe(true)
  } finally {
    await browser.close()
  }
})
