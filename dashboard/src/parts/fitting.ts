// Text on a canvas that is cut where it ends, and never squeezed.
import { lettersIn } from './format.ts'

export function fitting(pen: CanvasRenderingContext2D, text: string, width: number): string {
  const whole = pen.measureText(text).width
  if (whole <= width) return text
  // A text of any length is looked at only as far as it could fit.
  const letters = lettersIn(text.slice(0, 200))
  const share = width / Math.max(1, whole)
  return `${letters.slice(0, Math.max(0, Math.floor(Math.min(letters.length, letters.length * share)) - 1)).join('')}…`
}
