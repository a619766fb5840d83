// Formats a number of bytes.

export function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  const [unit, by] =
    bytes < 2 ** 20
      ? (['KiB', 2 ** 10] as const)
      : bytes < 2 ** 30
        ? (['MiB', 2 ** 20] as const)
        : (['GiB', 2 ** 30] as const)
  return `${(bytes / by).toFixed(bytes / by < 10 ? 1 : 0)} ${unit}`
}
