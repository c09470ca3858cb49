//! Models the times of a cluster from those of its parts: kernels, links, messages. `docs/scale.md` explains each line.

/// Bytes of a scalar, and of a point in a message.
pub const ELEMENT: f64 = 32.0;
const POINT: f64 = 96.0;
/// Bytes of a block of columns.
const BLOCK: f64 = 32.0 * 1_048_576.0;

/// Times of the parts, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// Of a multiplication, whatever its length, and of each point.
    pub msm: f64,
    pub g1: f64,
    pub g2: f64,
    /// Of an element of a transform, for each level.
    pub level: f64,
    /// Of a byte between host and device, each way.
    pub link: f64,
    /// Of a byte of any rank of a host, from the host's memory to a device and back: the ranks share that memory.
    pub host: f64,
    /// Of a byte of a rank's messages inside a host: copies through shared memory.
    pub inside: f64,
    /// Of a message, however short.
    pub latency: f64,
    /// Of a whole proof of 2^27 constraints of Filecoin's shape by one rank, key resident.
    pub proof: f64,
}

/// Hosts of a job, their GPUs, a rank each, and bytes a second that a host sends.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    pub hosts: f64,
    pub gpus: f64,
    pub network: f64,
}

impl Job {
    pub fn ranks(&self) -> f64 {
        self.hosts * self.gpus
    }

    /// Of a rank's messages, the part that leaves its host.
    fn leaving(&self) -> f64 {
        (self.hosts - 1.0) / self.hosts
    }
}

impl Model {
    /// One H200, from `docs/performance.md`; a link of 50 GB/s; a host's memory and messages inside it by ranks on four
    /// H100; messages of 30 µs, which is an assumption.
    pub const H200: Self = Self {
        msm: 3.6e-3,
        g1: 51.4e-3 / 12_582_912.0,
        g2: 12.6e-9,
        level: 3.18e-3 / (16_777_216.0 * 24.0),
        link: 1.0 / 50e9,
        host: 60e-12,
        inside: 1.0 / 2e9,
        latency: 30e-6,
        proof: 1.8,
    };

    /// Returns the seconds until one rank has sent the others their shares of `bytes`.
    fn sent_by_root(&self, bytes: f64, job: &Job) -> f64 {
        bytes * job.leaving() / job.network + bytes * (job.gpus - 1.0) / job.ranks() * self.inside
    }

    /// Returns the seconds until each rank has sent all others their parts of `bytes`, and kept its own.
    fn all_to_all(&self, bytes: f64, job: &Job) -> f64 {
        let outside = job.gpus * bytes * job.leaving() / job.network;
        outside.max(bytes * (job.gpus - 1.0) / job.ranks() * self.inside)
    }

    /// A multiplication whose bases and scalars are on their ranks.
    pub fn msm(&self, points: f64, job: &Job) -> f64 {
        let gather = self.latency * job.ranks().log2().ceil() + POINT * job.ranks() / job.network;
        self.msm + self.g1 * points / job.ranks() + if job.ranks() > 1.0 { gather } else { 0.0 }
    }

    /// Returns the seconds of a multiplication with all scalars on one rank.
    pub fn msm_from_root(&self, points: f64, job: &Job) -> f64 {
        self.msm(points, job) + self.sent_by_root(ELEMENT * points, job)
    }

    /// A transform of a vector in host memory, in slices.
    pub fn ntt(&self, log: f64, job: &Job) -> f64 {
        let bytes = ELEMENT * log.exp2() / job.ranks();
        let copies = (bytes * self.link).max(bytes * job.gpus * self.host);
        // One lane copies while the other computes.
        let over_levels = |levels: f64| (self.level * levels * bytes / ELEMENT).max(copies);
        if job.ranks() <= 1.0 {
            return over_levels(log);
        }
        let dimension = over_levels(log / 2.0);
        let (rounds, messages) = ((bytes / (2.0 * BLOCK)).ceil(), self.all_to_all(bytes, job));
        // The first round's columns and the last one's messages hide behind nothing.
        let (round, latency) = (dimension.max(messages), rounds * self.latency * job.ranks());
        round + dimension.min(messages) / rounds + latency + dimension
    }

    /// One proof of 2^log constraints with full-size scalars, the key in slices, the witness on one rank.
    pub fn proof(&self, log: f64, job: &Job) -> f64 {
        let constraints = log.exp2();
        let scatter = self.sent_by_root(6.0 * ELEMENT * constraints, job);
        let sums = 5.0 * self.msm + (4.0 * self.g1 + self.g2) * constraints / job.ranks();
        scatter + 6.0 * self.ntt(log, job) + sums
    }

    /// Returns the proofs a day, of `partitions` each.
    pub fn proofs_a_day(&self, partitions: f64, job: &Job) -> f64 {
        86_400.0 * job.ranks() / (partitions * self.proof)
    }
}
