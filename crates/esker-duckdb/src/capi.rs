//! All calls of DuckDB's C interface. DuckDB owns every pointer that it hands over; nothing here keeps one
//! beyond the call in which it came, but for what is registered with its destructor.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use esker::store::format::TimeUnit;
use libduckdb_sys as ffi;

use crate::columns::{ColumnType, TableColumn, TextsAndNulls};
use crate::table::{ArgumentType, Given, Rows, Table};

/// The oldest C interface that has all that is used here.
const API_VERSION: &str = "v1.2.0";

/// A connection to the database into which the extension is loaded.
pub(crate) struct Registry(ffi::duckdb_connection);

/// Loads the extension: registers its functions. Returns `false` if something failed, which DuckDB is told,
/// and if this DuckDB is too old, which it says itself.
///
/// # Safety
/// `info` and `access` are those that DuckDB passed, during that call.
pub(crate) unsafe fn load(
    info: ffi::duckdb_extension_info,
    access: *const ffi::duckdb_extension_access,
    register: fn(&Registry) -> Result<(), String>,
) -> bool {
    // SAFETY: as the caller promises. The pointers of `access` are set in every version that calls this.
    let loaded = contained(|| unsafe { connect(info, access, register) });
    if let Err(reason) = &loaded {
        // SAFETY: as above; DuckDB copies the text.
        unsafe {
            if let Some(set_error) = (*access).set_error {
                set_error(info, c_text(reason).as_ptr());
            }
        }
    }
    loaded == Ok(true)
}

/// # Safety
/// As [`load`].
unsafe fn connect(
    info: ffi::duckdb_extension_info,
    access: *const ffi::duckdb_extension_access,
    register: fn(&Registry) -> Result<(), String>,
) -> Result<bool, String> {
    // SAFETY: `access` is valid, and the functions that it names come first; the connection is closed below.
    unsafe {
        if !ffi::duckdb_rs_extension_api_init(info, access, API_VERSION)? {
            return Ok(false);
        }
        let get_database = (*access).get_database.ok_or("DuckDB hands over no database")?;
        let database = get_database(info);
        if database.is_null() {
            return Err("DuckDB hands over no database".to_owned());
        }
        let mut connection = std::ptr::null_mut();
        if ffi::duckdb_connect(*database, &raw mut connection) != ffi::DuckDBSuccess {
            return Err("no connection can be opened".to_owned());
        }
        let registered = register(&Registry(connection));
        ffi::duckdb_disconnect(&raw mut connection);
        registered.map(|()| true)
    }
}

impl Registry {
    /// Registers a table function.
    pub(crate) fn add<T: Table>(&self) -> Result<(), String> {
        // SAFETY: the function and its types are destroyed after they were registered, as the interface asks;
        // the callbacks are those of this type throughout.
        unsafe {
            let mut function = ffi::duckdb_create_table_function();
            let name = c_text(T::NAME);
            ffi::duckdb_table_function_set_name(function, name.as_ptr());
            let of_text = LogicalType::simple(ffi::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR);
            let of_flag = LogicalType::simple(ffi::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN);
            for _ in 0..T::POSITIONAL {
                ffi::duckdb_table_function_add_parameter(function, of_text.0);
            }
            for argument in T::named() {
                let (name, kind) = (c_text(&argument.name), argument.kind);
                let kind = if kind == ArgumentType::Flag { &of_flag } else { &of_text };
                ffi::duckdb_table_function_add_named_parameter(function, name.as_ptr(), kind.0);
            }
            ffi::duckdb_table_function_supports_projection_pushdown(function, true);
            ffi::duckdb_table_function_set_bind(function, Some(bind::<T>));
            ffi::duckdb_table_function_set_init(function, Some(init::<T>));
            ffi::duckdb_table_function_set_local_init(function, Some(init_local::<T>));
            ffi::duckdb_table_function_set_function(function, Some(next::<T>));
            let state = ffi::duckdb_register_table_function(self.0, function);
            ffi::duckdb_destroy_table_function(&raw mut function);
            if state == ffi::DuckDBSuccess {
                Ok(())
            } else {
                Err(format!("DuckDB refuses the function {}", T::NAME))
            }
        }
    }
}

/// A type of DuckDB, destroyed when it is dropped.
struct LogicalType(ffi::duckdb_logical_type);

impl LogicalType {
    fn simple(kind: ffi::duckdb_type) -> Self {
        // SAFETY: a constant of the interface.
        Self(unsafe { ffi::duckdb_create_logical_type(kind) })
    }

    fn of(kind: ColumnType) -> Self {
        let array = |of: ffi::duckdb_type, len: u32| {
            let element = Self::simple(of);
            // SAFETY: the type of the elements is valid; the new type copies it.
            Self(unsafe { ffi::duckdb_create_array_type(element.0, len.into()) })
        };
        Self::simple(match kind {
            ColumnType::Boolean => ffi::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN,
            ColumnType::Integer => ffi::DUCKDB_TYPE_DUCKDB_TYPE_INTEGER,
            ColumnType::BigInt => ffi::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT,
            ColumnType::UTinyInt => ffi::DUCKDB_TYPE_DUCKDB_TYPE_UTINYINT,
            ColumnType::USmallInt => ffi::DUCKDB_TYPE_DUCKDB_TYPE_USMALLINT,
            ColumnType::UInteger => ffi::DUCKDB_TYPE_DUCKDB_TYPE_UINTEGER,
            ColumnType::UBigInt => ffi::DUCKDB_TYPE_DUCKDB_TYPE_UBIGINT,
            ColumnType::Float => ffi::DUCKDB_TYPE_DUCKDB_TYPE_FLOAT,
            ColumnType::Double => ffi::DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE,
            ColumnType::Text => ffi::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR,
            ColumnType::Date => ffi::DUCKDB_TYPE_DUCKDB_TYPE_DATE,
            ColumnType::Time(TimeUnit::Second) => ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_S,
            ColumnType::Time(TimeUnit::Milli) => ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_MS,
            ColumnType::Time(TimeUnit::Micro) => ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP,
            ColumnType::Time(TimeUnit::Nano) => ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_NS,
            ColumnType::Floats(len) => return array(ffi::DUCKDB_TYPE_DUCKDB_TYPE_FLOAT, len),
            ColumnType::Doubles(len) => return array(ffi::DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE, len),
        })
    }
}

impl Drop for LogicalType {
    fn drop(&mut self) {
        // SAFETY: made by the interface, destroyed once.
        unsafe { ffi::duckdb_destroy_logical_type(&raw mut self.0) };
    }
}

/// What a query keeps of the arguments.
struct Bound<T> {
    table: T,
    types: Vec<ColumnType>,
}

/// What the threads of a scan share.
struct Begun<T: Table> {
    scan: Arc<T::Scan>,
    /// The numbers of the columns that are asked for.
    columns: Vec<usize>,
}

unsafe extern "C" fn bind<T: Table>(info: ffi::duckdb_bind_info) {
    let done = contained(|| {
        // SAFETY: `info` is valid during the call, and so are the values that it gives.
        let given = unsafe { arguments::<T>(info) };
        let table = T::bind(&given)?;
        let columns = table.columns();
        let types = columns.iter().map(|(_, kind)| *kind).collect();
        // SAFETY: as above. DuckDB copies names and types, and drops the data by the given function.
        unsafe {
            for (name, kind) in &columns {
                let (name, kind) = (c_text(name), LogicalType::of(*kind));
                ffi::duckdb_bind_add_result_column(info, name.as_ptr(), kind.0);
            }
            ffi::duckdb_bind_set_cardinality(info, table.rows(), true);
            let bound = Box::into_raw(Box::new(Bound { table, types }));
            ffi::duckdb_bind_set_bind_data(info, bound.cast(), Some(drop_boxed::<Bound<T>>));
        }
        Ok(())
    });
    if let Err(reason) = done {
        // SAFETY: as above; DuckDB copies the text.
        unsafe { ffi::duckdb_bind_set_error(info, c_text(&reason).as_ptr()) };
    }
}

/// # Safety
/// `info` is valid.
unsafe fn arguments<T: Table>(info: ffi::duckdb_bind_info) -> Given {
    let mut given = Given::default();
    // SAFETY: values are destroyed after they were read; the interface returns null for what is not given.
    unsafe {
        for place in 0..T::POSITIONAL {
            let value = ffi::duckdb_bind_get_parameter(info, place as u64);
            given.positional.push(text_of(value).unwrap_or_default());
        }
        for argument in T::named() {
            let name = c_text(&argument.name);
            if let Some(text) = text_of(ffi::duckdb_bind_get_named_parameter(info, name.as_ptr())) {
                given.named.push((argument.name, text));
            }
        }
    }
    given
}

/// A value as text; `None` for none.
///
/// # Safety
/// `value` is null or valid; it is destroyed.
unsafe fn text_of(mut value: ffi::duckdb_value) -> Option<String> {
    if value.is_null() {
        return None;
    }
    // SAFETY: as the caller promises; the text is freed after it was copied.
    unsafe {
        let text = if ffi::duckdb_is_null_value(value) {
            None
        } else {
            let shown: *mut c_char = ffi::duckdb_get_varchar(value);
            let text = (!shown.is_null()).then(|| CStr::from_ptr(shown).to_string_lossy().into_owned());
            ffi::duckdb_free(shown.cast());
            text
        };
        ffi::duckdb_destroy_value(&raw mut value);
        text
    }
}

unsafe extern "C" fn init<T: Table>(info: ffi::duckdb_init_info) {
    let done = contained(|| {
        // SAFETY: `info` is valid during the call, and the data is what `bind` of this type set.
        unsafe {
            let bound = &*ffi::duckdb_init_get_bind_data(info).cast::<Bound<T>>();
            let count = ffi::duckdb_init_get_column_count(info);
            let column = |place| ffi::duckdb_init_get_column_index(info, place) as usize;
            let columns = (0..count).map(column).collect();
            let begun = Begun::<T> { scan: Arc::new(bound.table.scan()?), columns };
            ffi::duckdb_init_set_max_threads(info, T::THREADS);
            let begun = Box::into_raw(Box::new(begun));
            ffi::duckdb_init_set_init_data(info, begun.cast(), Some(drop_boxed::<Begun<T>>));
        }
        Ok(())
    });
    if let Err(reason) = done {
        // SAFETY: as above; DuckDB copies the text.
        unsafe { ffi::duckdb_init_set_error(info, c_text(&reason).as_ptr()) };
    }
}

/// The rows of a thread, made when the thread first asks: the data of the scan is not known here.
unsafe extern "C" fn init_local<T: Table>(info: ffi::duckdb_init_info) {
    let part = Box::into_raw(Box::new(None::<T::Part>));
    // SAFETY: `info` is valid during the call; DuckDB drops the data by the given function.
    unsafe { ffi::duckdb_init_set_init_data(info, part.cast(), Some(drop_boxed::<Option<T::Part>>)) };
}

unsafe extern "C" fn next<T: Table>(info: ffi::duckdb_function_info, chunk: ffi::duckdb_data_chunk) {
    let done = contained(|| {
        // SAFETY: `info` and `chunk` are valid during the call, and the data is what the callbacks of this
        // type set; the local data belongs to this thread.
        unsafe {
            let bound = &*ffi::duckdb_function_get_bind_data(info).cast::<Bound<T>>();
            let begun = &*ffi::duckdb_function_get_init_data(info).cast::<Begun<T>>();
            let part = &mut *ffi::duckdb_function_get_local_init_data(info).cast::<Option<T::Part>>();
            let part = part.get_or_insert_with(|| bound.table.part(&begun.scan));
            let room = ffi::duckdb_vector_size() as usize;
            let mut vectors: Vec<Vector> = (0..begun.columns.len())
                .map(|place| Vector { vector: ffi::duckdb_data_chunk_get_vector(chunk, place as u64) })
                .collect();
            // DuckDB asks for no column of a function with a number beyond all where it only counts rows.
            let kind = |place: usize| bound.types.get(begun.columns[place]).copied();
            let mut into: Vec<TableColumn<'_>> = vectors
                .iter_mut()
                .enumerate()
                .map(|(place, vector)| column(vector, kind(place).unwrap_or(ColumnType::BigInt), room))
                .collect();
            let rows = part.next(room, &begun.columns, &mut into)?;
            ffi::duckdb_data_chunk_set_size(chunk, rows as u64);
        }
        Ok(())
    });
    if let Err(reason) = done {
        // SAFETY: as above; DuckDB copies the text.
        unsafe { ffi::duckdb_function_set_error(info, c_text(&reason).as_ptr()) };
    }
}

/// The column of a vector.
///
/// # Safety
/// The vector is valid, of this type, and holds `room` values.
unsafe fn column(vector: &mut Vector, kind: ColumnType, room: usize) -> TableColumn<'_> {
    // SAFETY: as the caller promises. The values of an array lie in its child, one after another.
    let bytes: &mut [u8] = unsafe {
        match kind {
            ColumnType::Text => &mut [],
            ColumnType::Floats(_) | ColumnType::Doubles(_) => {
                let child = ffi::duckdb_array_vector_get_child(vector.vector);
                let data: *mut c_void = ffi::duckdb_vector_get_data(child);
                std::slice::from_raw_parts_mut(data.cast(), room * kind.width())
            }
            _ => {
                let data: *mut c_void = ffi::duckdb_vector_get_data(vector.vector);
                std::slice::from_raw_parts_mut(data.cast(), room * kind.width())
            }
        }
    };
    TableColumn { kind, bytes, rest: vector }
}

/// A vector of a chunk that is being filled.
struct Vector {
    vector: ffi::duckdb_vector,
}

impl TextsAndNulls for Vector {
    fn put_text(&mut self, row: usize, text: &str) {
        // SAFETY: the vector is one of texts and has this row; DuckDB copies the text.
        unsafe {
            let (data, len) = (text.as_ptr().cast(), text.len() as u64);
            ffi::duckdb_vector_assign_string_element_len(self.vector, row as u64, data, len);
        }
    }

    fn put_null(&mut self, row: usize) {
        // SAFETY: the vector has this row, and its mask exists after the first call.
        unsafe {
            ffi::duckdb_vector_ensure_validity_writable(self.vector);
            let validity = ffi::duckdb_vector_get_validity(self.vector);
            ffi::duckdb_validity_set_row_invalid(validity, row as u64);
        }
    }
}

/// Drops what a callback boxed.
unsafe extern "C" fn drop_boxed<T>(data: *mut c_void) {
    // SAFETY: `data` came from `Box::into_raw` of this type, and DuckDB calls this once.
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(data.cast::<T>()) })));
    // No one is there to be told.
    drop(dropped);
}

/// What the work returns; a panic must not reach DuckDB, and becomes an error.
fn contained<R>(work: impl FnOnce() -> Result<R, String>) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
        Err(format!("Esker stopped by a bug, please report it: {text}"))
    })
}

/// A text for the interface, without its zero bytes.
fn c_text(text: &str) -> CString {
    let bytes: Vec<u8> = text.bytes().filter(|&byte| byte != 0).collect();
    CString::new(bytes).unwrap_or_default()
}
