// Text on a canvas that is cut where it ends, and never squeezed.
import { lettersIn } from './format.ts'

export function fitting(pen: CanvasRenderingContext2D, text: string, width: number): string {
  const whole = pen.measureText(text).width
  if (whole <= width) return text
  // A text of any length is looked at only as far as it could fit.
  const letters = lettersIn(text.slice(0, 200))
  let [fits, tooMany] = [0, letters.length + 1]
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1
    if (pen.measureText(`${letters.slice(0, middle).join('')}…`).width <= width) fits = middle
    else tooMany = middle
  }
  return fits === 0 ? '' : `${letters.slice(0, fits).join('')}…`
}
