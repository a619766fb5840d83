// A canvas with the size of its element in device pixels, and the colours of the theme.

interface Canvas2d {
  readonly pen: CanvasRenderingContext2D
  readonly color: (name: string) => string
}

/** Empty, and as large as the element is now. */
export function penOf(element: HTMLCanvasElement): Canvas2d | null {
  const ratio = window.devicePixelRatio
  element.width = element.clientWidth * ratio
  element.height = element.clientHeight * ratio
  const pen = element.getContext('2d')
  if (pen === null) return null
  pen.scale(ratio, ratio)
  const style = getComputedStyle(document.documentElement)
  return { pen, color: (name) => style.getPropertyValue(`--${name}`).trim() }
}
