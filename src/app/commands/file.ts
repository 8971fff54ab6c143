import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import * as z from 'zod';
import { KaiwuError } from '../../core/errors.ts';
import type { SealedDescription, StoredFile } from '../../core/file.ts';
import { toVisibleText } from '../../core/visible-text.ts';
import { unsealText } from '../../local/identity-age.ts';
import type { Command } from '../../surfaces/cli/command.ts';
import { type CliIo, write } from '../../surfaces/cli/io.ts';
import { requireAccountKey } from '../account-key.ts';
import type { App } from '../app.ts';
import { identityOf, openFiles, optional, resolveTarget } from '../connection.ts';
import { call, commandAt, madeOfCalls } from './catalog-calls.ts';
import { createFileProgress } from './file-progress.ts';
import { flag, text } from './local-command.ts';

/** What a device has sealed is still what somebody wrote. */
const descriptionSchema: z.ZodType<SealedDescription> = z.object({
  fileId: z.string(),
  path: z.string(),
  fileName: z.string().regex(/^(?!\.{1,2}$)[^/\\]{1,255}$/),
  sizeBytes: z.int(),
  mimeType: z.string(),
  message: z.string().optional(),
  sha256: z.string(),
});

async function describe(file: StoredFile, identity: string): Promise<SealedDescription> {
  const description = descriptionSchema.safeParse(JSON.parse(await unsealText(file.sealed, identity)));
  if (description.success && description.data.fileId === file.fileId) return description.data;
  throw new KaiwuError('state_damaged', `The description of ${file.fileId} is damaged, or another file's.`, {
    hint: 'Have the file sent once more.',
  });
}

/** The commands of the catalog that only a device can carry out whole: it has the key, the backend has not. */
export const fileCommands = (app: App, io: CliIo, catalog: readonly Command[]): Command[] =>
  [fileList(app, catalog), fileGet(app, io, catalog)].map(madeOfCalls);

function fileList(app: App, catalog: readonly Command[]): Command {
  const action = commandAt(catalog, 'file list');
  return {
    ...action,
    columns: [
      { label: 'id', of: ['fileId'] },
      { label: 'name', of: ['fileName'] },
      { label: 'size', of: ['sizeBytes'] },
      { label: 'session', of: ['sessionId'] },
      { label: 'sent', of: ['createdAt'] },
      'message',
    ],
    async run(invocation) {
      const envelope = await action.run(invocation);
      if (envelope.status !== 'ok') return envelope;
      const identity = await identityOf(app, await resolveTarget(app, invocation.flags, true)).read();
      const open = async ({ sealed, ...file }: StoredFile) => {
        if (identity === undefined) return { ...file, sealed, problem: 'this machine lacks the key' };
        return describe({ ...file, sealed }, identity).then(
          ({ path, fileName, mimeType, message }) => ({
            ...file,
            path,
            fileName,
            mimeType,
            ...optional('message', message),
          }),
          () => ({ ...file, sealed, problem: 'sealed to another key, or damaged' }),
        );
      };
      const files = await Promise.all((envelope.output.files as StoredFile[]).map(open));
      return { status: 'ok', output: { ...envelope.output, files } };
    },
  };
}

function fileGet(app: App, io: CliIo, catalog: readonly Command[]): Command {
  const action = commandAt(catalog, 'file get');
  const { properties } = action.inputSchema;
  return {
    ...action,
    summary: 'Use to save a file that a session sent, decrypted, in this folder or wherever --output says.',
    description:
      'It gets the name that it was sent under, made safe, and never takes the place of something unless you say --force. ' +
      '`--output -` writes the content itself to stdout.',
    inputSchema: {
      ...action.inputSchema,
      properties: {
        ...properties,
        output: text('File or folder to save it to; - for stdout. Default: this folder.'),
        force: flag('Replace a file that is there.'),
      },
    },
    examples: [
      { title: 'Here, under its own name', input: { fileId: 'file_0123456789abcdef' } },
      { title: 'Into a folder', input: { fileId: 'file_0123456789abcdef', output: 'downloads' } },
    ],
    errors: [...action.errors, 'conflict', 'state_damaged', 'access_denied', 'invalid_input'],
    talks: true,
    toText: ({ file, fileName, sizeBytes }) =>
      file === STDOUT
        ? ''
        : `${toVisibleText(String(fileName))} (${String(sizeBytes)} bytes) is saved: ${String(file)}`,
    async run({ input: { output = '.', force, ...input }, ...invocation }) {
      const { flags, signal } = invocation;
      const isStdout = output === STDOUT;
      if (isStdout && flags.json) throw contentOrJson();
      const stored = (await call(catalog, 'file get', input, invocation)) as unknown as StoredFile;
      const target = await resolveTarget(app, flags, true);
      const identity = await requireAccountKey(app, target);
      const description = await describe(stored, identity);
      const { openDecrypted, requireFree, saveDecrypted } = await import('../file-download.ts');
      const path = isStdout ? STDOUT : await toPlace(resolve(io.cwd, output as string), description.fileName);
      if (!isStdout) await requireFree(path, force === true);
      const { stream } = await (await openFiles(app, target)).download(stored.fileId, signal);
      const progress = createFileProgress(io, description.sizeBytes);
      try {
        const incoming = { source: stream, identity, description, onBytes: progress.set };
        if (isStdout) await pour(openDecrypted(incoming), io.stdout);
        else await saveDecrypted({ ...incoming, path, force: force === true });
      } catch (error) {
        throw signal.aborted
          ? new KaiwuError('canceled', 'The download was canceled; nothing was saved.')
          : error;
      } finally {
        stream.destroy();
        progress.end();
      }
      const { sha256: _, path: origin, ...shown } = description;
      return { status: 'ok', output: { file: path, ...shown, origin } };
    },
  };
}

/** What `--output` takes for stdout. */
const STDOUT = '-';

const contentOrJson = () =>
  new KaiwuError('invalid_input', '--output - writes the content to stdout, where --json writes too.', {
    hint: 'Leave one of them out.',
  });

/** As fast as the reader takes it. A reader that went away (`| head`) has had enough. */
async function pour(content: AsyncIterable<Uint8Array>, to: Writable): Promise<void> {
  for await (const chunk of content) {
    await write(to, chunk);
    if (to.destroyed) return;
  }
}

/** A folder gets the file under its own name. */
async function toPlace(path: string, fileName: string): Promise<string> {
  const { stat } = await import('node:fs/promises');
  const info = await stat(path).catch(() => undefined);
  return info?.isDirectory() === true ? resolve(path, fileName) : path;
}
