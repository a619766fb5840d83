// Standard input as bytes.

export async function readAll(stdin: NodeJS.ReadStream): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
