"""Makes a dataset of JPEGs, or loads one as a training does and says what it saw.

epochs.py make ROOT IMAGES
epochs.py load ROOT [HOLDFAST]    HOLDFAST: the command to ask for figures after each epoch
"""

import hashlib
import json
import os
import random
import subprocess
import sys
import time

CLASSES = 10
EPOCHS = 3
SEED = 7


def make(root, images):
    """Writes JPEGs of noise that compresses to different sizes."""
    from PIL import Image

    noise = random.Random(SEED)
    for i in range(images):
        folder = os.path.join(root, f"n{i % CLASSES:08d}")
        os.makedirs(folder, exist_ok=True)
        width, height = noise.randrange(160, 320), noise.randrange(160, 320)
        image = Image.frombytes("RGB", (width, height), noise.randbytes(3 * width * height))
        image.save(os.path.join(folder, f"image_{i:05d}.JPEG"), quality=noise.randrange(40, 90))


def load(root, holdfast):
    """Three epochs with nothing between torchvision and the files."""
    import torch
    from torch.utils.data import DataLoader
    from torchvision import transforms
    from torchvision.datasets import ImageFolder

    dataset = ImageFolder(
        root, transforms.Compose([transforms.Resize((64, 64)), transforms.ToTensor()])
    )
    generator = torch.Generator()
    generator.manual_seed(SEED)
    loader = DataLoader(
        dataset, batch_size=32, shuffle=True, num_workers=2, generator=generator
    )
    print(f"{len(dataset)} images in {len(dataset.classes)} classes, torch {torch.__version__}")
    fetched = 0
    for epoch in range(1, EPOCHS + 1):
        start = time.monotonic()
        seen = hashlib.sha256()
        for samples, labels in loader:
            seen.update(samples.numpy().tobytes())
            seen.update(labels.numpy().tobytes())
        seconds = time.monotonic() - start
        line = f"epoch {epoch}: {seconds:5.2f} s, samples {seen.hexdigest()[:16]}"
        if holdfast:
            stats = figures(holdfast, root)
            line += hits(stats, epoch, len(dataset), stats["fetches"]["origin"]["items"] - fetched)
            fetched = stats["fetches"]["origin"]["items"]
        print(line, flush=True)


def figures(holdfast, root):
    """The figures of now; the control file's may be a second old."""
    out = subprocess.run([holdfast, "stats", root, "--json"], check=True, stdout=subprocess.PIPE)
    return json.loads(out.stdout)


def hits(stats, epoch, images, fetched):
    """What an epoch hit, and whether it is what the policy promises: all that was resident before it."""
    resident = stats["cache"]["resident_items"]
    planned = 0 if epoch == 1 else resident
    text = f", {fetched} fetched, {resident} resident, hit ratio {1 - fetched / images:.3f}"
    if images - fetched != planned or abs(resident / images - stats["cache"]["planned_hit_ratio"]) > 0.05:
        text += f" NOT AS PLANNED: {planned} hits"
    return text


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]))
    else:
        load(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
